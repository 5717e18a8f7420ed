import { type Micro, microMax } from '@assay/protocol/money'
import type { Account } from './accounts.ts'
import { LedgerRefused } from './errors.ts'

export type LedgerLine = {
  account: Account
  /** Debit positive, credit negative; micro-USDC or gwei, as the account's unit says. */
  amount: Micro
}

export type LedgerTransaction = {
  /** Unique name of what happened: posting it again changes nothing. */
  reference: string
  kind: string
  paymentId?: string
  memo?: string
  /** The transfer whose money this posts or reverses; required where a line is about one of our wallets. */
  transfer?: TransferTurn
  lines: readonly LedgerLine[]
}

/**
 * Numbers the postings of one transfer. An even `turn` posts the transfer, the odd one after it reverses that posting.
 */
export type TransferTurn = { id: bigint; turn: number }

/** Positive amounts only: the sign is said by the verb. */
export function debit(account: Account, amount: Micro): LedgerLine {
  return { account, amount: positive(amount) }
}

export function credit(account: Account, amount: Micro): LedgerLine {
  return { account, amount: -positive(amount) }
}

function positive(amount: Micro): Micro {
  if (typeof amount !== 'bigint' || amount <= 0n || amount > microMax) {
    throw new LedgerRefused(`not an amount for the ledger: ${String(amount)}`)
  }
  return amount
}

/** The same rules as the database's, reported earlier and with the reference. */
export function assertPostable(transaction: LedgerTransaction): void {
  const refuse = (why: string): never => {
    throw new LedgerRefused(`${transaction.reference || '(no reference)'}: ${why}`)
  }
  if (transaction.reference.length < 1 || transaction.reference.length > 300) refuse('bad reference')
  if (transaction.lines.length < 2) refuse('fewer than two lines')
  const sums = new Map<string, bigint>()
  for (const { account, amount } of transaction.lines) {
    if (typeof amount !== 'bigint' || amount === 0n) refuse(`bad amount for ${account.name}`)
    if (amount > microMax || amount < -microMax) refuse(`amount out of range for ${account.name}`)
    sums.set(account.unit, (sums.get(account.unit) ?? 0n) + amount)
  }
  for (const [unit, sum] of sums) if (sum !== 0n) refuse(`does not balance: ${unit} is off by ${sum}`)
}
