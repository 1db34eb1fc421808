#include <math.h>
#include <stdint.h>

void run(int64_t w, int64_t h, double alpha, const float img_in[restrict w][h], float img_out[restrict w][h],
         float y1[restrict w][h], float y2[restrict w][h]) {
  const double fall = exp(-alpha);
  const double gain = (1.0 - fall) * (1.0 - fall) / (1.0 + 2.0 * alpha * fall - exp(2.0 * alpha));
  const float a1 = (float)gain, a5 = a1;
  const float a2 = (float)(gain * fall * (alpha - 1.0)), a6 = a2;
  const float a3 = (float)(gain * fall * (alpha + 1.0)), a7 = a3;
  const float a4 = (float)(-gain * exp(-2.0 * alpha)), a8 = a4;
  const float b1 = (float)pow(2.0, -alpha), b2 = (float)-exp(-2.0 * alpha);
  const float c1 = 1.0f, c2 = 1.0f;
  for (int64_t i = 0; i < w; i++) {
    float ym1 = 0.0f, ym2 = 0.0f, xm1 = 0.0f;
    for (int64_t j = 0; j < h; j++) {
      y1[i][j] = a1 * img_in[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
      xm1 = img_in[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int64_t i = 0; i < w; i++) {
    float yp1 = 0.0f, yp2 = 0.0f, xp1 = 0.0f, xp2 = 0.0f;
    for (int64_t j = h - 1; j >= 0; j--) {
      y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
      xp2 = xp1;
      xp1 = img_in[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int64_t i = 0; i < w; i++)
    for (int64_t j = 0; j < h; j++)
      img_out[i][j] = c1 * (y1[i][j] + y2[i][j]);
  for (int64_t j = 0; j < h; j++) {
    float tm1 = 0.0f, ym1 = 0.0f, ym2 = 0.0f;
    for (int64_t i = 0; i < w; i++) {
      y1[i][j] = a5 * img_out[i][j] + a6 * tm1 + b1 * ym1 + b2 * ym2;
      tm1 = img_out[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int64_t j = 0; j < h; j++) {
    float tp1 = 0.0f, tp2 = 0.0f, yp1 = 0.0f, yp2 = 0.0f;
    for (int64_t i = w - 1; i >= 0; i--) {
      y2[i][j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2;
      tp2 = tp1;
      tp1 = img_out[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int64_t i = 0; i < w; i++)
    for (int64_t j = 0; j < h; j++)
      img_out[i][j] = c2 * (y1[i][j] + y2[i][j]);
}
