package sqlite

// syncFolder does nothing: Windows cannot sync a folder, and NTFS journals names.
func syncFolder(string) error { return nil }
