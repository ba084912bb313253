// Package file makes documents of files and folders: one document a file, of any format
// that package extract reads, with what is known of the file as metadata.
//
// A folder is one input, its files are its records, in order of their paths. Nothing
// outside of the folder is ever opened (os.Root); symbolic links are not followed. Every
// entry has an outcome: what is hidden, ignored or no file is skipped, what cannot be
// read is refused, each with its reason.
//
// A file whose size and time are those of its document is not opened again. A touched
// file is read for its digest, and extracted only if that is new. The digest of a folder
// is that of its listing, so that an unchanged one costs a walk and nothing more.
package file
