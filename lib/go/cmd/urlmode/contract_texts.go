// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package main

const noExample = "there is no example for %s, but for %s"

const fileStays = "exists, and stays as it is"
