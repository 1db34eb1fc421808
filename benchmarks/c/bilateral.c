#include <math.h>
#include <stdint.h>

void run(int64_t rows, int64_t columns, int64_t channels, const double image[restrict rows][columns][channels],
         int64_t out_rows, int64_t out_columns, int64_t out_channels,
         double out[restrict out_rows][out_columns][out_channels], int64_t radius, double nearness, double likeness) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      double total = 0.0, red = 0.0, green = 0.0, blue = 0.0;
      const int64_t y0 = i > radius ? i - radius : 0, y1 = i + radius + 1 < rows ? i + radius + 1 : rows;
      const int64_t x0 = j > radius ? j - radius : 0, x1 = j + radius + 1 < columns ? j + radius + 1 : columns;
      for (int64_t y = y0; y < y1; y++)
        for (int64_t x = x0; x < x1; x++) {
          const double r = image[y][x][0] - image[i][j][0];
          const double g = image[y][x][1] - image[i][j][1];
          const double b = image[y][x][2] - image[i][j][2];
          const double distance = (double)((y - i) * (y - i) + (x - j) * (x - j));
          const double weight = exp(-nearness * distance - likeness * (r * r + g * g + b * b));
          total += weight;
          red += weight * image[y][x][0];
          green += weight * image[y][x][1];
          blue += weight * image[y][x][2];
        }
      out[i][j][0] = red / total;
      out[i][j][1] = green / total;
      out[i][j][2] = blue / total;
    }
}
