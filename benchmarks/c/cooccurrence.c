#include <stdint.h>

void run(int64_t rows, int64_t columns, const uint8_t grey[restrict rows][columns], int64_t levels, int64_t others,
         int64_t counts[restrict levels][others], int64_t reach) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      for (int64_t right = 1; right < reach + 1 && right < columns - j; right++)
        counts[grey[i][j]][grey[i][j + right]] += 1;
      for (int64_t down = 1; down < reach + 1 && down < rows - i; down++)
        counts[grey[i][j]][grey[i + down][j]] += 1;
    }
}
