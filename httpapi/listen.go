package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"github.com/sextant-rag/sextant"
)

// How the options are called where people set them.
const (
	portOption = "--port (API_PORT)"
	hostOption = "--host (API_HOST)"
)

// wsaEADDRINUSE is what Windows says for EADDRINUSE; no other system has that number.
const wsaEADDRINUSE = syscall.Errno(10048)

// listen binds the address, so that nothing is announced that is not true yet. Errors
// are *sextant.Error and name the address and the option that changes it.
func listen(ctx context.Context, host string, port int) (net.Listener, error) {
	address := net.JoinHostPort(host, strconv.Itoa(port))
	if port < 0 || port > 65535 {
		return nil, &sextant.Error{Code: sextant.CodeBadRequest, Op: "listen", Message: fmt.Sprintf("%d is no port; ports go from 0 to 65535.", port),
			Hint: "Choose one with " + portOption + "; 0 takes a free one."}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, listenError(address, err)
	}
	return l, nil
}

func listenError(address string, err error) error {
	e := &sextant.Error{Code: sextant.CodeInternal, Op: "listen", Err: err}
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, wsaEADDRINUSE):
		e.Code, e.Message = sextant.CodeConflict, "Something else is listening on "+address+" already."
		e.Hint = "Stop it, or choose another port with " + portOption + "; 0 takes a free one."
	case errors.Is(err, syscall.EACCES):
		e.Code, e.Message = sextant.CodeForbidden, "The system does not allow listening on "+address+"."
		e.Hint = "Ports under 1024 need rights of their own; choose another with " + portOption + "."
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		e.Code, e.Message = sextant.CodeBadRequest, address+" is no address of this machine."
		e.Hint = "Choose another with " + hostOption + "."
	default:
		e.Code, e.Message, e.Hint = sextant.CodeBadRequest, "Listening on "+address+" is not possible.", "Check "+hostOption+" and "+portOption+"."
	}
	return e
}

// loopback reports whether only this machine reaches the host. An empty host is every
// address of the machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
