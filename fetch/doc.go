// Package fetch gets what an address on the network holds, for every part that takes
// addresses from people or from documents. It is the only client of the module that
// follows addresses it was not configured with, and therefore refuses to be used as a
// way into the network it stands in: the address is checked when the connection is made,
// after names were resolved, so that neither a name that resolves differently the second
// time nor a redirect gets around the check.
//
// A body is bounded in its decoded size and a transfer in its time; both are errors,
// never a shorter body.
package fetch
