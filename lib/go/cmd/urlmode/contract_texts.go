// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package main

const noExample = "there is no example for %s, but for %s"

const paidExample = "%s: a report that is sold once, credits, and a subscription"

const exampleWritten = "%s the example server of a framework into a folder, this one by default:"

const exampleStays = "A file that exists stays as it is."

const exampleList = "Without FRAMEWORK it lists them:"

const fileStays = "exists, and stays as it is"
