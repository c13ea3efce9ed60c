class constexpr:
    pass


float32 = "the type float32"
