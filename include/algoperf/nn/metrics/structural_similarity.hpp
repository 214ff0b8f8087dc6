#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../../core/error.hpp"
#include "evaluated_rows.hpp"

namespace algoperf {

// The mean structural similarity (SSIM) of the outputs z and the labels y, grey images of rows x columns. The
// similarity of two images is the mean over all square windows of 7 x 7 pixels that fit the image of
//   (2 m_y m_z + C1) (2 c_yz + C2) / ((m_y^2 + m_z^2 + C1) (v_y + v_z + C2)),   C1 = (0.01 L)^2, C2 = (0.03 L)^2
// where m are the means over the window, v the sample variances and c the sample covariance, with divisor 49 - 1. It is
// 1 for equal images and at least -1. L is the range of the pixels.
// Hyperparameters: rows and columns at least 7; range, L > 0; intensity_field: if not null, the name of a field of
//   three values per example, {mean, deviation, L}. Images are then compared as mean + deviation z and mean +
//   deviation y, and `range` is not used; L = 0 stands for 1, as in AlgoPerf.
// Source: Wang et al. 2004, "Image quality assessment: from error visibility to structural similarity", section III.B,
//   with equal weights in a window; as scikit-image's structural_similarity with its defaults. Computes in double.
// value returns NaN if a pixel is not a number, or without images.
struct StructuralSimilarity {
  static constexpr const char* name = "structural similarity";
  static constexpr bool lower_is_better = false;
  std::size_t rows = 7, columns = 7;
  double range = 1;
  const char* intensity_field = nullptr;

  struct State {
    double sum = 0, weight = 0;
  };

  std::span<const char* const> fields() const { return {&intensity_field, intensity_field == nullptr ? 0u : 1u}; }

  template <class S>
  void add(State& state, const EvaluatedRows<S, S>& batch) const {
    require(rows >= window && columns >= window, "StructuralSimilarity: images have ", rows, " rows and ", columns,
            " columns, expected at least ", window, " each");
    require(batch.width == rows * columns, "StructuralSimilarity: an image has ", rows, " rows and ", columns,
            " columns, but the model has ", batch.width, " outputs per row");
    require(range > 0 || intensity_field != nullptr, "StructuralSimilarity: range is ", range,
            ", expected more than 0");
    if (intensity_field != nullptr)
      require(batch.fields.size() == 1 && batch.fields[0].size() == 3 * batch.rows, "StructuralSimilarity: the field '",
              intensity_field, "' has ", batch.fields.empty() ? 0 : batch.fields[0].size(), " values for ", batch.rows,
              " images, expected three per image: mean, deviation and range");
    for (std::size_t r = 0; r < batch.rows; ++r) {
      Intensity intensity{0, 1, range};
      if (intensity_field != nullptr) {
        const S* const of_image = batch.fields[0].data() + 3 * r;
        intensity = {static_cast<double>(of_image[0]), static_cast<double>(of_image[1]),
                     static_cast<double>(of_image[2])};
      }
      state.sum +=
          batch.weight(r) * of_images(batch.outputs + r * batch.width, batch.labels + r * batch.width, intensity);
      state.weight += batch.weight(r);
    }
  }
  double value(const State& state) const { return state.sum / state.weight; }

 private:
  static constexpr std::size_t window = 7;
  struct Intensity {
    double mean, deviation, range;
  };
  // Sums over a window of y, z, y^2, z^2 and y z.
  struct Moments {
    double y = 0, z = 0, yy = 0, zz = 0, yz = 0;
    Moments& operator+=(const Moments& other) {
      y += other.y, z += other.z, yy += other.yy, zz += other.zz, yz += other.yz;
      return *this;
    }
  };

  // Adds up columns of a window's height first, and then windows of these columns.
  template <class S>
  double of_images(const S* y, const S* z, const Intensity& intensity) const {
    const double largest = intensity.range == 0 ? 1 : intensity.range;
    const double c1 = 0.01 * largest * (0.01 * largest), c2 = 0.03 * largest * (0.03 * largest);
    std::vector<Moments> of_columns(columns);
    double sum = 0;
    for (std::size_t top = 0; top + window <= rows; ++top) {
      for (std::size_t c = 0; c < columns; ++c) {
        of_columns[c] = {};
        for (std::size_t r = top; r < top + window; ++r) {
          const double a = intensity.mean + intensity.deviation * static_cast<double>(y[r * columns + c]);
          const double b = intensity.mean + intensity.deviation * static_cast<double>(z[r * columns + c]);
          of_columns[c] += {a, b, a * a, b * b, a * b};
        }
      }
      for (std::size_t left = 0; left + window <= columns; ++left) {
        Moments all;
        for (std::size_t c = left; c < left + window; ++c) all += of_columns[c];
        sum += similarity(all, c1, c2);
      }
    }
    return sum / static_cast<double>((rows - window + 1) * (columns - window + 1));
  }
  static double similarity(const Moments& sums, double c1, double c2) {
    constexpr double n = window * window;
    const double y = sums.y / n, z = sums.z / n;
    const double variances = (sums.yy + sums.zz - n * (y * y + z * z)) / (n - 1);
    const double covariance = (sums.yz - n * y * z) / (n - 1);
    return (2 * y * z + c1) * (2 * covariance + c2) / ((y * y + z * z + c1) * (variances + c2));
  }
};

}  // namespace algoperf
