//go:build !linux

package main

// runningFrom needs /proc.
func runningFrom(string) []string { return nil }

// hook is for a test that needs a limit of Linux.
func hook() {}
