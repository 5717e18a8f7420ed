import type { Tone } from '../../ui/parts.tsx'

export type Payment = {
  id: string
  state: string
  route: string
  network: string
  amount_micro: string
  transaction: string | null
  final: boolean
  claimed_at: string
}

export const stateTones: Record<string, Tone> = {
  served: 'good',
  settled: 'good',
  unknown: 'warn',
  failed: 'bad',
  credited: 'gold',
  refunded: 'gold',
}

/** Every word must be somewhere in the payment. */
export function filterPayments(payments: readonly Payment[], filter: string): Payment[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return payments.filter(({ id, state, route, network, transaction }) => {
    const text = `${id} ${state} ${route} ${network} ${transaction ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

const columns = ['id', 'state', 'route', 'network', 'amount_micro', 'transaction', 'final', 'claimed_at'] as const

/** None of the fields has a comma or a quote in it: they are ids, names and figures of the node. */
export const paymentsCsv = (payments: readonly Payment[]): string =>
  [columns.join(','), ...payments.map((payment) => columns.map((name) => payment[name] ?? '').join(','))].join('\n') +
  '\n'
