kernel void lw_grid_i_o__32(int64_t lw_base_x, int64_t lw_end_x, int64_t lw_lower_x, int64_t h_n0_, int64_t keys_n0_, LW_GLOBAL(const int64_t) keys_, global lw_failure *failure, LW_GLOBAL(int64_t) h_) {
  typedef int lw_int;
  local int32_t lw_copy[8192] __attribute__((aligned(16)));
  if (h_n0_ <= 8192) {
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int lw_i = threadIdx.x; lw_i < (int)(h_n0_); lw_i += 32) {
      lw_copy[lw_i] = ((int32_t)0);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int64_t lw_part = lw_base_x + (int64_t)blockIdx.x; lw_part < lw_end_x; lw_part += (int64_t)gridDim.x) {
      const int64_t i_o_ = lw_lower_x + lw_part * 512;
      {
        const int64_t lw_upper = LW_MIN(int64_t, ((int64_t)((uint64_t)i_o_ + (uint64_t)512L)), keys_n0_);
        int64_t lw_at = i_o_ + (int64_t)threadIdx.x;
        for (; lw_at < lw_upper && (uint64_t)lw_upper - (uint64_t)lw_at > 224; lw_at += 256) {
          const int64_t lw_at_0 = lw_at + 0;
          const int64_t lw_at_1 = lw_at + 32;
          const int64_t lw_at_2 = lw_at + 64;
          const int64_t lw_at_3 = lw_at + 96;
          const int64_t lw_at_4 = lw_at + 128;
          const int64_t lw_at_5 = lw_at + 160;
          const int64_t lw_at_6 = lw_at + 192;
          const int64_t lw_at_7 = lw_at + 224;
          const int64_t lw_read_0_0 = keys_[lw_at_0];
          const int64_t lw_read_0_1 = keys_[lw_at_1];
          const int64_t lw_read_0_2 = keys_[lw_at_2];
          const int64_t lw_read_0_3 = keys_[lw_at_3];
          const int64_t lw_read_0_4 = keys_[lw_at_4];
          const int64_t lw_read_0_5 = keys_[lw_at_5];
          const int64_t lw_read_0_6 = keys_[lw_at_6];
          const int64_t lw_read_0_7 = keys_[lw_at_7];
          const int64_t lw_index_0 = lw_from_start(lw_read_0_0, h_n0_);
          const int64_t lw_index_1 = lw_from_start(lw_read_0_1, h_n0_);
          const int64_t lw_index_2 = lw_from_start(lw_read_0_2, h_n0_);
          const int64_t lw_index_3 = lw_from_start(lw_read_0_3, h_n0_);
          const int64_t lw_index_4 = lw_from_start(lw_read_0_4, h_n0_);
          const int64_t lw_index_5 = lw_from_start(lw_read_0_5, h_n0_);
          const int64_t lw_index_6 = lw_from_start(lw_read_0_6, h_n0_);
          const int64_t lw_index_7 = lw_from_start(lw_read_0_7, h_n0_);
          if (LW_RARE(lw_outside(lw_index_0, h_n0_) | lw_outside(lw_index_1, h_n0_) | lw_outside(lw_index_2, h_n0_) | lw_outside(lw_index_3, h_n0_) | lw_outside(lw_index_4, h_n0_) | lw_outside(lw_index_5, h_n0_) | lw_outside(lw_index_6, h_n0_) | lw_outside(lw_index_7, h_n0_))) {
            lw_index(failure, lw_read_0_0, h_n0_, 0);
            lw_index(failure, lw_read_0_1, h_n0_, 1);
            lw_index(failure, lw_read_0_2, h_n0_, 2);
            lw_index(failure, lw_read_0_3, h_n0_, 3);
            lw_index(failure, lw_read_0_4, h_n0_, 4);
            lw_index(failure, lw_read_0_5, h_n0_, 5);
            lw_index(failure, lw_read_0_6, h_n0_, 6);
            lw_index(failure, lw_read_0_7, h_n0_, 7);
          }
          { const int32_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&lw_copy[lw_index_0], lw_value); }
          { const int32_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&lw_copy[lw_index_1], lw_value); }
          { const int32_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&lw_copy[lw_index_2], lw_value); }
          { const int32_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&lw_copy[lw_index_3], lw_value); }
          { const int32_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&lw_copy[lw_index_4], lw_value); }
          { const int32_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&lw_copy[lw_index_5], lw_value); }
          { const int32_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&lw_copy[lw_index_6], lw_value); }
          { const int32_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&lw_copy[lw_index_7], lw_value); }
        }
        __attribute__((opencl_unroll_hint(1)))
        for (; lw_at < lw_upper; lw_at += 32) {
          const int64_t i_ = lw_at;
          { const int32_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&lw_copy[LW_INDEX(keys_[i_], h_n0_, 8)], lw_value); }
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int lw_i = threadIdx.x; lw_i < (int)(h_n0_); lw_i += 32) {
      const int32_t lw_mine = lw_copy[lw_i];
      if (lw_mine != ((int32_t)0)) {
        atomic_add(&h_[lw_i], (int64_t)lw_mine);
      }
    }
  } else {
    for (int64_t lw_part = lw_base_x + (int64_t)blockIdx.x; lw_part < lw_end_x; lw_part += (int64_t)gridDim.x) {
      const int64_t i_o_ = lw_lower_x + lw_part * 512;
      {
        const int64_t lw_upper = LW_MIN(int64_t, ((int64_t)((uint64_t)i_o_ + (uint64_t)512L)), keys_n0_);
        int64_t lw_at = i_o_ + (int64_t)threadIdx.x;
        for (; lw_at < lw_upper && (uint64_t)lw_upper - (uint64_t)lw_at > 224; lw_at += 256) {
          const int64_t lw_at_0 = lw_at + 0;
          const int64_t lw_at_1 = lw_at + 32;
          const int64_t lw_at_2 = lw_at + 64;
          const int64_t lw_at_3 = lw_at + 96;
          const int64_t lw_at_4 = lw_at + 128;
          const int64_t lw_at_5 = lw_at + 160;
          const int64_t lw_at_6 = lw_at + 192;
          const int64_t lw_at_7 = lw_at + 224;
          const int64_t lw_read_0_0 = keys_[lw_at_0];
          const int64_t lw_read_0_1 = keys_[lw_at_1];
          const int64_t lw_read_0_2 = keys_[lw_at_2];
          const int64_t lw_read_0_3 = keys_[lw_at_3];
          const int64_t lw_read_0_4 = keys_[lw_at_4];
          const int64_t lw_read_0_5 = keys_[lw_at_5];
          const int64_t lw_read_0_6 = keys_[lw_at_6];
          const int64_t lw_read_0_7 = keys_[lw_at_7];
          const int64_t lw_index_9 = lw_from_start(lw_read_0_0, h_n0_);
          const int64_t lw_index_10 = lw_from_start(lw_read_0_1, h_n0_);
          const int64_t lw_index_11 = lw_from_start(lw_read_0_2, h_n0_);
          const int64_t lw_index_12 = lw_from_start(lw_read_0_3, h_n0_);
          const int64_t lw_index_13 = lw_from_start(lw_read_0_4, h_n0_);
          const int64_t lw_index_14 = lw_from_start(lw_read_0_5, h_n0_);
          const int64_t lw_index_15 = lw_from_start(lw_read_0_6, h_n0_);
          const int64_t lw_index_16 = lw_from_start(lw_read_0_7, h_n0_);
          if (LW_RARE(lw_outside(lw_index_9, h_n0_) | lw_outside(lw_index_10, h_n0_) | lw_outside(lw_index_11, h_n0_) | lw_outside(lw_index_12, h_n0_) | lw_outside(lw_index_13, h_n0_) | lw_outside(lw_index_14, h_n0_) | lw_outside(lw_index_15, h_n0_) | lw_outside(lw_index_16, h_n0_))) {
            lw_index(failure, lw_read_0_0, h_n0_, 9);
            lw_index(failure, lw_read_0_1, h_n0_, 10);
            lw_index(failure, lw_read_0_2, h_n0_, 11);
            lw_index(failure, lw_read_0_3, h_n0_, 12);
            lw_index(failure, lw_read_0_4, h_n0_, 13);
            lw_index(failure, lw_read_0_5, h_n0_, 14);
            lw_index(failure, lw_read_0_6, h_n0_, 15);
            lw_index(failure, lw_read_0_7, h_n0_, 16);
          }
          { const int64_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&h_[lw_index_9], lw_value); }
          { const int64_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&h_[lw_index_10], lw_value); }
          { const int64_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&h_[lw_index_11], lw_value); }
          { const int64_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&h_[lw_index_12], lw_value); }
          { const int64_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&h_[lw_index_13], lw_value); }
          { const int64_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&h_[lw_index_14], lw_value); }
          { const int64_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&h_[lw_index_15], lw_value); }
          { const int64_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&h_[lw_index_16], lw_value); }
        }
        __attribute__((opencl_unroll_hint(1)))
        for (; lw_at < lw_upper; lw_at += 32) {
          const int64_t i_ = lw_at;
          { const int64_t lw_value = ((int64_t)((uint64_t)0L + (uint64_t)1L)); atomic_add(&h_[LW_INDEX(keys_[i_], h_n0_, 17)], lw_value); }
        }
      }
    }
  }
}
