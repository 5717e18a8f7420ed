import { type Address, checksumAddress } from '@assay/protocol/address'
import { equalBytes } from '../../kernel/bytes.ts'
import { encodeChannelSale } from '../encode-response.ts'
import { type ChannelRecord, channelStateExtra } from './channel-record.ts'
import { isIdentifierClaimed, readChannel, requireAnswer, type StoredSale, saleByIdentifier } from './channel-store.ts'
import { correctionFor } from './check-voucher.ts'
import type { ChannelPayment, Voucher } from './decode-channel.ts'
import type { SellDeps } from './sell-by-voucher.ts'

/** The answer of an earlier sale, given once more. */
export type ReplayedSale = StoredSale & { delivered(): Promise<void> }

/** With the response of that sale for its own voucher, and with a charge of nothing for any other. */
export function replaySale(deps: SellDeps, record: ChannelRecord, sale: StoredSale, voucher: Voucher): ReplayedSale {
  const { network, id, config } = record
  const isOwn = sale.sequence === record.sequence && voucher.maxClaimable === sale.signedMicro
  const uncharged = () =>
    encodeChannelSale({
      ...{ payer: checksumAddress(config.payer), network, transaction: '', amount: '' },
      extra: { chargedAmount: '0', channelState: channelStateExtra(record) },
    })
  return {
    ...sale,
    paymentResponse: isOwn ? sale.paymentResponse : uncharged(),
    delivered: () => deps.delivered({ network, id, sequence: sale.sequence }),
  }
}

/**
 * The sale that an identifier names, for the channel that paid for it and a voucher that nobody else can know. A channel
 * names any payer it likes: only its deposit proves that the payer agreed.
 */
export async function namedSale(
  deps: SellDeps,
  { network, config, voucher }: ChannelPayment,
  identifierHash: Buffer,
  fingerprint: Buffer,
): Promise<ReplayedSale | 'taken' | undefined> {
  const payer: Address = config.payer
  const sale = await saleByIdentifier(deps.database, payer, identifierHash)
  if (!sale) return (await isIdentifierClaimed(deps.database, payer, identifierHash)) ? 'taken' : undefined
  if (sale.id !== voucher.channelId || !equalBytes(sale.fingerprint, fingerprint)) return 'taken'
  const record = await readChannel(deps.database, { network, id: sale.id })
  if (!record) return 'taken'
  if (voucher.maxClaimable <= record.publicMicro) throw await correctionFor(deps, record)
  return replaySale(deps, record, requireAnswer(sale), voucher)
}
