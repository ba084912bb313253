package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// ErrPrivate says that an address is one of the machine itself, of the network it stands
// in, or of no host at all.
var ErrPrivate = errors.New("the address is not a public one")

// ErrURL says that an address cannot be fetched because of how it is written.
var ErrURL = errors.New("no address that can be fetched")

// reserved are the blocks that lead to no public host and that netip does not name: IANA's
// special-purpose registries, and the blocks in which an IPv4 address is hidden.
var reserved = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10", "::/96",
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

// public reports whether an address leads to a host of the public network.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// guard refuses connections to addresses that are neither public nor permitted. It is
// called with the address a connection is about to be made to.
func guard(permit []netip.Prefix) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %s", ErrPrivate, address)
		}
		a := to.Addr().Unmap()
		if public(a) || slices.ContainsFunc(permit, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return nil
		}
		return fmt.Errorf("%w: %s", ErrPrivate, a)
	}
}

// IsURL reports whether a text is meant as an address to fetch and not as a path.
func IsURL(text string) bool {
	scheme, rest, ok := strings.Cut(strings.ToLower(text), ":")
	return ok && (scheme == "http" || scheme == "https" || scheme == "feed") && strings.HasPrefix(rest, "//")
}

// checkURL refuses what is no plain web address: other schemes, no host, names and
// passwords inside.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: only http and https are", ErrURL)
	case u.Hostname() == "":
		return fmt.Errorf("%w: it names no host", ErrURL)
	case u.User != nil:
		return fmt.Errorf("%w: it holds a user name", ErrURL)
	}
	return nil
}

// isOffline reports whether an error says that there is no way to the host at all.
func isOffline(err error) bool {
	var dns *net.DNSError
	var op *net.OpError
	return errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
}
