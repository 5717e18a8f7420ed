import { type Micro, parseUsd, smallerOf, splitShare } from '@assay/protocol/money'
import type { Sale } from '@assay/till'
import { accounts, type LedgerLine, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { type CreatorShares, tollBps } from '../ports.ts'

/** A text that its licence gives away costs by its length, up to this for a page; the same is the default maximum. */
const licensedPageMicro: Micro = 2_000n
const licensedThousandMicro: Micro = 100n

export const licensedTextMicro = (text: string): Micro =>
  smallerOf(BigInt(Math.ceil(text.length / 1_000)) * licensedThousandMicro, licensedPageMicro)

export const contentMaxMicro = (usd: string | undefined): Micro =>
  usd === undefined ? licensedPageMicro : (parseUsd(usd) as Micro)

/** `share`: whose price it is, where a creator set one. */
export type SoldText = {
  text: string
  micro: Micro
  share?: { domain: string; registrable: string; page: string; micro: Micro }
}

/** What creators get of a sale, as it is kept until the money is there. */
export type ReservedShare = { domain: string; registrable: string; page: string; micro: string }

export const reservedShares = (texts: readonly (SoldText | undefined)[]): ReservedShare[] =>
  texts.flatMap((one) =>
    one?.share ? [{ ...one.share, micro: splitShare(one.share.micro, tollBps).rest.toString() }] : [],
  )

/** Splits a sale of texts that was paid into custody: their parts to the creators, the rest is the operator's. */
export async function postTexts(
  tx: Tx,
  sale: Sale,
  { id, shares }: { id: string; shares: readonly ReservedShare[] },
  share: CreatorShares | undefined,
): Promise<void> {
  if (sale.payee !== 'custody' || sale.amountMicro === 0n) return
  const due = shares.map((one) => ({ ...one, micro: BigInt(one.micro) }))
  const dueMicro = due.reduce((sum, { micro }) => sum + micro, 0n)
  if (dueMicro > sale.amountMicro) throw new Error(`${sale.paymentId} does not cover what creators get of it`)
  const lines: LedgerLine[] = due.length > 0 && share ? await share(tx, sale, id, due) : []
  const given = lines.reduce((sum, { amount }) => sum - amount, 0n)
  await post(tx, [
    {
      reference: `texts:${sale.paymentId}${sale.round > 0 ? `#${sale.round}` : ''}`,
      kind: 'split',
      paymentId: sale.paymentId,
      lines: [
        { account: accounts.clearingPayments(sale.network), amount: sale.amountMicro },
        { account: accounts.revenue(sale.network, sale.routeId), amount: given - sale.amountMicro },
        ...lines,
      ].filter(({ amount }) => amount !== 0n),
    },
  ])
}
