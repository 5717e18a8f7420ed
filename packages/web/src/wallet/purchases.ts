import { createStore } from '../app/store.ts'
import type { Order, Settled } from './order.ts'

/** What this browser bought. The node keeps the books; this is the buyer's own note. */
export type PurchaseNote = {
  at: string
  wallet: string
  what: string
  url: string
  amountMicro: string
  network: string
  transaction: string
}

const key = 'assay.purchases'
const notesMax = 100

export const purchases = createStore<readonly PurchaseNote[]>(readNotes(localStorage.getItem(key)))

export function readNotes(text: string | null): PurchaseNote[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(value) ? value.filter(isNote) : []
  } catch {
    return []
  }
}

const fields = ['at', 'wallet', 'what', 'url', 'amountMicro', 'network', 'transaction'] as const

function isNote(value: unknown): value is PurchaseNote {
  if (typeof value !== 'object' || value === null) return false
  const note = value as Record<string, unknown>
  return fields.every((field) => typeof note[field] === 'string') && /^\d{1,30}$/.test(String(note.amountMicro))
}

export function recordPurchase(
  wallet: string,
  { what, url }: Order,
  { amountMicro, network, transaction }: Settled,
): void {
  const note = { at: new Date().toISOString(), wallet, what, url, amountMicro, network, transaction }
  purchases.set([note, ...purchases.get()].slice(0, notesMax))
  localStorage.setItem(key, JSON.stringify(purchases.get()))
}
