// Package delivery has the operations on webhooks, which send changes to receivers outside.
package delivery
