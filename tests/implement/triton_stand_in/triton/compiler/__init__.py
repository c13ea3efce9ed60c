class ASTSource:
    def __init__(self, fn, signature, constexprs, attrs):
        self.fn, self.signature, self.constexprs, self.attrs = fn, signature, constexprs, attrs
