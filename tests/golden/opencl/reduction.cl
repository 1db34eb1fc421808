kernel void lw_grid_i__32(int64_t a_n0_, LW_GLOBAL(const double) a_, double s_, LW_GLOBAL(double) lw_out_s_, global const volatile int64_t *lw_stopped, int64_t lw_ticket) {
  typedef int lw_int;
  const bool lw_asks = false;
  local double lw_parts[4] __attribute__((aligned(16)));
  double vlw_part2_ = 0;
  int lw_due = LW_PATIENCE;
  double vlw_other3_ = 0;
  double vlw_other4_ = 0;
  double vlw_other5_ = 0;
  double vlw_other6_ = 0;
  double vlw_other7_ = 0;
  double vlw_other8_ = 0;
  if (lw_asks && work_group_any(*lw_stopped >= lw_ticket)) return;
  vlw_part2_ = (-0.0);
  {
    const int64_t lw_upper = a_n0_;
    for (int64_t i_ = 0L + (int64_t)threadIdx.x; i_ < lw_upper; i_ += 128) {
      if (lw_asks && (lw_due -= (3)) < 0) {
        lw_due = LW_PATIENCE;
        if (*lw_stopped >= lw_ticket) return;
      }
      vlw_part2_ = (vlw_part2_ + a_[i_]);
    }
  }
  if (lw_asks && work_group_reduce_add(1) != 128) return;
  vlw_other3_ = sub_group_shuffle_xor(vlw_part2_, 16);
  vlw_part2_ = (vlw_part2_ + vlw_other3_);
  vlw_other4_ = sub_group_shuffle_xor(vlw_part2_, 8);
  vlw_part2_ = (vlw_part2_ + vlw_other4_);
  vlw_other5_ = sub_group_shuffle_xor(vlw_part2_, 4);
  vlw_part2_ = (vlw_part2_ + vlw_other5_);
  vlw_other6_ = sub_group_shuffle_xor(vlw_part2_, 2);
  vlw_part2_ = (vlw_part2_ + vlw_other6_);
  vlw_other7_ = sub_group_shuffle_xor(vlw_part2_, 1);
  vlw_part2_ = (vlw_part2_ + vlw_other7_);
  if ((threadIdx.x) % 32 == 0) {
    lw_parts[(threadIdx.x) / 32] = vlw_part2_;
  }
  if (lw_asks && work_group_reduce_add(1) != 128) return;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  vlw_part2_ = lw_parts[0];
  for (int lw_i = 1; lw_i < 4; ++lw_i) {
    vlw_other8_ = lw_parts[lw_i];
    vlw_part2_ = (vlw_part2_ + vlw_other8_);
  }
  s_ = (s_ + vlw_part2_);
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    lw_out_s_[0] = s_;
  }
}
