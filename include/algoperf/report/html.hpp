// Pieces of a self-contained HTML page: escaped text, tables, and the page with its style and script.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "../state/atomic_file.hpp"

namespace algoperf {

// Returns a text with the characters that HTML reserves replaced, for content and for quoted attributes.
inline std::string html_text(const std::string& text) {
  std::string safe;
  for (const char c : text) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  return safe;
}

// Returns a table whose first row is the header. Cells are HTML. The first column is aligned to the left, the others to
// the right.
inline std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"wide\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const char* const tag = r == 0 ? "th" : "td";
    html += "<tr>";
    for (const std::string& cell : rows[r]) html += fmt::format("<{0}>{1}</{0}>", tag, cell);
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

// A section with a heading, an explanation below it, and content. `text` and `content` are HTML.
inline std::string html_section(const std::string& heading, const std::string& text, const std::string& content) {
  return fmt::format("<section>\n<h2>{}</h2>\n<p>{}</p>\n{}</section>\n", html_text(heading), text, content);
}

// Writes a page that needs no other file. Elements with the attribute data-tip show its text beside the pointer. Throws
// Error if the file cannot be written.
inline void write_html(const std::string& path, const std::string& title, const std::string& body) {
  static constexpr const char* style = R"(
body{font:15px/1.5 system-ui,sans-serif;color:#1c2733;background:#f4f6f8;margin:0}
main{max-width:1120px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:26px;margin:8px 0 4px}h2{font-size:18px;margin:0 0 4px}h3{font-size:14px;margin:14px 0 2px;font-weight:600}
section{background:#fff;border:1px solid #dde3e9;border-radius:8px;padding:18px 22px;margin:18px 0}
p{margin:0 0 12px;color:#51606f;max-width:90ch}p.lead{color:#1c2733}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:5px 12px;text-align:right;border-bottom:1px solid #e8ecf0;white-space:nowrap}th{white-space:normal}
th{font-weight:600;color:#51606f;font-size:13px}th:first-child,td:first-child{text-align:left;padding-left:0}
.miss{color:#a8322a}.point{white-space:normal;text-align:left;font-size:12.5px;min-width:280px}
.wide{overflow-x:auto}.grid{display:flex;flex-wrap:wrap;gap:10px 18px}
.key{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:7px;vertical-align:-1px}
.keys{margin:4px 0 8px;font-size:13px}.keys span{margin-right:18px;white-space:nowrap}
svg{display:block;font:12px system-ui,sans-serif}svg text{fill:#51606f}svg .axis{stroke:#9aa7b3}svg .rule{stroke:#e8ecf0}
svg .dot{opacity:0}svg .dot.seen,svg .dot:hover{opacity:1}
#tip{position:fixed;display:none;pointer-events:none;background:#1c2733;color:#fff;padding:5px 9px;border-radius:5px;
font-size:12.5px;white-space:pre;z-index:9}
)";
  static constexpr const char* script = R"(
const tip=document.getElementById('tip');
document.addEventListener('mousemove',e=>{const t=e.target.closest&&e.target.closest('[data-tip]');
tip.style.display=t?'block':'none';if(!t)return;tip.textContent=t.dataset.tip;
const w=tip.offsetWidth,x=e.clientX+14;tip.style.left=(x+w>innerWidth?e.clientX-w-10:x)+'px';
tip.style.top=(e.clientY+14)+'px'});
)";
  AtomicFile file(path);
  file.write(
      fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                  "content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>{}</style></head>\n"
                  "<body><main>\n{}</main><div id=\"tip\"></div><script>{}</script></body></html>\n",
                  html_text(title), style, body, script));
  file.commit();
}

}  // namespace algoperf
