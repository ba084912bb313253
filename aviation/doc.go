// Package aviation is the domain pack for accidents, rules and news of flying: the
// collections and their schemas, the sources that fill them (NTSB records first) and
// the words people use for aircraft, places and phases. It is the only package that
// knows an aircraft from a ticket; everything else sees collections and fields.
package aviation
