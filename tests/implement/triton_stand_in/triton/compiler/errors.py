class CompilationError(Exception):
    def __init__(self, src, node, error_message):
        super().__init__(error_message)
        self.src, self.node, self.error_message = src, node, error_message
