package chroma

// processLives cannot be told here: a lease then runs out.
func processLives(int) bool { return true }
