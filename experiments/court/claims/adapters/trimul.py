

def trimul(x, mask, norm_weight, norm_bias, left_proj, right_proj, left_gate, right_gate, out_gate,
           out_norm_weight, out_norm_bias, to_out):  # fmt: skip
    """Calls the entry's custom_kernel() as kernelbot does, and returns the dtype of the task's reference."""
    weights = {"norm.weight": norm_weight, "norm.bias": norm_bias, "left_proj.weight": left_proj,
               "right_proj.weight": right_proj, "left_gate.weight": left_gate, "right_gate.weight": right_gate,
               "out_gate.weight": out_gate,
               "to_out_norm.weight": out_norm_weight, "to_out_norm.bias": out_norm_bias,
               "to_out.weight": to_out}  # fmt: skip
    config = {"dim": x.shape[-1], "hidden_dim": left_proj.shape[0]}
    return custom_kernel((x, mask, weights, config)).float().contiguous()  # noqa: F821
