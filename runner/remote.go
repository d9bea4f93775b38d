package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// beyond warns of targets that are not on this machine, in one line however many
// they are. To load them may be what is meant, so nothing is refused. Addresses are
// HOST:PORT or unix:SOCKET; what does not resolve fails soon enough by itself.
func beyond(ctx context.Context, s streams, addresses ...string) {
	var far []string
	for _, a := range addresses {
		if !strings.HasPrefix(a, "unix:") && !slices.Contains(far, a) && leaves(ctx, a) {
			far = append(far, a)
		}
	}
	if len(far) > 0 {
		fmt.Fprintf(s.err, "gonogo: warning: not on the loopback of this machine: %s; load only what is yours, and a network is then part of what is measured\n", plain(strings.Join(far, ", ")))
	}
}

// leaves tells whether an address leaves the loopback.
func leaves(ctx context.Context, address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.IsLoopback()
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return err == nil && slices.ContainsFunc(ips, func(ip netip.Addr) bool { return !ip.IsLoopback() })
}
