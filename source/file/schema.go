package file

import (
	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Fields of a file's document.
const (
	fieldPath     = "path"
	fieldFolder   = "folder"
	fieldType     = "file_type"
	fieldSize     = "size"
	fieldModified = "modified"
	fieldCreated  = "created"
	fieldAuthor   = "author"
	fieldLanguage = "language"
	fieldPages    = "pages"
	fieldDigest   = "sha256"
	fieldReader   = "reader"
)

// Collection returns the collection of files that name and fill describe.
func Collection(name, fill string) sextant.Collection {
	word := func(name, label, about string, facet bool) filter.Field {
		return filter.Field{Name: name, Label: label, Description: about, Kind: filter.Keyword, Fold: filter.Case, Facet: facet}
	}
	return sextant.Collection{
		Name: name, Title: "files of " + name, Role: sextant.RoleReference, Unit: "files", DateField: fieldModified, Fill: fill,
		Schema: filter.Schema{Fields: []filter.Field{
			word(fieldPath, "path", "Path, beginning with the name of the folder that was taken in.", false),
			word(fieldFolder, "folder", "Path of the folder it is in.", true),
			word(fieldType, "file type", "Format, told by the content.", true),
			{Name: fieldSize, Label: "size", Description: "Bytes.", Kind: filter.Int},
			{Name: fieldModified, Label: "modified", Description: "When the file was last changed, as the file system says.", Kind: filter.Time},
			{Name: fieldCreated, Label: "created", Description: "When the document was made, as the file itself says.", Kind: filter.Time},
			word(fieldAuthor, "author", "Author, as the file itself says.", true),
			word(fieldLanguage, "language", "Language, as the file itself says.", true),
			{Name: fieldPages, Label: "pages", Description: "Pages, slides or sheets.", Kind: filter.Int},
			{Name: fieldDigest, Label: "SHA-256", Description: "Digest of the bytes.", Kind: filter.Keyword},
			{Name: fieldReader, Label: "reader", Description: "Version of the reading that made the text.", Kind: filter.Keyword},
		}},
	}
}
