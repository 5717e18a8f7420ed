import type { Address } from '@assay/protocol/address'
import { z } from 'zod'
import type { SigningRequest } from '../chain/wallet/index.ts'
import { addressText } from '../kernel/address-text.ts'
import type { SignerUse } from './wire.ts'

const address = addressText.transform((text) => text.toLowerCase() as Address)
const amount = z
  .string()
  .regex(/^[1-9][0-9]{0,30}$/)
  .transform(BigInt)
const perChain = <T extends z.ZodType>(value: T) => z.record(z.string().regex(/^[1-9][0-9]{0,15}$/), value)

/** Wallets that send transactions: to these contracts alone, and for so much gas. */
const settler = z.strictObject({
  use: z.literal('settler'),
  key_file: z.string(),
  targets: perChain(z.array(address).min(1)),
  wei_per_transaction_max: amount,
  wei_per_day_max: amount,
})

/** Wallets that allow transfers of one asset on each chain, or of some, and so much of all of them. */
const custody = z.strictObject({
  use: z.literal('custody'),
  key_file: z.string(),
  assets: perChain(z.union([address, z.array(address).min(1)])),
  micro_per_transfer_max: amount,
  micro_per_day_max: amount,
})

/** Ed25519 keys that sign answers, or heads of the log. */
const signing = z.strictObject({
  use: z.enum(['response', 'log']),
  key_file: z.string(),
  signatures_per_minute_max: z.int().min(1).max(10_000_000),
})

export const keyRuleSchema = z.discriminatedUnion('use', [settler, custody, signing])
type AnyRule = z.infer<typeof keyRuleSchema>
export type SigningRule = z.infer<typeof signing>
export type KeyRule = Exclude<AnyRule, SigningRule>

export const isSigningRule = (rule: AnyRule): rule is SigningRule => rule.use === 'response' || rule.use === 'log'

export type Verdict =
  | { status: 'allowed'; spends: bigint; perDayMax: bigint }
  | { status: 'refused'; code: string; detail: string }

const refused = (code: string, detail: string): Verdict => ({ status: 'refused', code, detail })

export const useOf = ({ use }: KeyRule): SignerUse => use

/** What the rule of a key says to one request; the day is for the journal to count. */
export function checkRequest(rule: KeyRule, own: Address, request: SigningRequest): Verdict {
  if (rule.use === 'settler') {
    if (request.kind !== 'transaction') return refused('use', 'this key sends transactions and allows no transfers')
    const { transaction } = request
    const targets = rule.targets[String(transaction.chainId)]
    if (targets === undefined) return refused('chain', `chain ${transaction.chainId} is not allowed`)
    const isFiller = transaction.to === own && transaction.data === '0x'
    if (!isFiller && !targets.includes(transaction.to)) return refused('target', `${transaction.to} is not allowed`)
    if (transaction.value !== 0n) return refused('value', 'no coins are sent')
    const wei = transaction.gasLimit * transaction.maxFeePerGas
    if (wei > rule.wei_per_transaction_max) return refused('limit', `it may cost ${wei} wei`)
    return { status: 'allowed', spends: wei, perDayMax: rule.wei_per_day_max }
  }
  if (request.kind === 'transaction') return refused('use', 'this key allows transfers and sends no transactions')
  const { authorization } = request
  if (![rule.assets[String(request.chainId)]].flat().includes(request.asset.address))
    return refused('asset', `${request.asset.address} on chain ${request.chainId} is not allowed`)
  if (authorization.from !== own) return refused('from', 'it would move the money of another wallet')
  if (authorization.value > rule.micro_per_transfer_max)
    return refused('limit', `${authorization.value} is too much at once`)
  return { status: 'allowed', spends: authorization.value, perDayMax: rule.micro_per_day_max }
}
