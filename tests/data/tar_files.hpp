// Builds tar archives byte by byte.
#pragma once

#include <cstddef>
#include <string>

inline std::string octal(std::size_t n, std::size_t digits) {
  std::string result(digits, '0');
  for (; n > 0; n /= 8) result[--digits] = static_cast<char>('0' + n % 8);
  return result;
}

inline std::string with_tar_checksum(std::string header) {
  header.replace(148, 8, "        ");
  std::size_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  return header.replace(148, 8, octal(sum, 6) + std::string("\0 ", 2));
}

inline std::string tar_header(const std::string& name, std::size_t size, char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, 11, octal(size, 11));
  header[156] = type;
  header.replace(257, 8,
                 std::string("ustar\0"
                             "00",
                             8));
  return with_tar_checksum(header);
}

inline std::string tar_member(const std::string& name, const std::string& contents, char type = '0') {
  return tar_header(name, contents.size(), type) + contents + std::string((512 - contents.size() % 512) % 512, '\0');
}

inline const std::string tar_end(1024, '\0');
