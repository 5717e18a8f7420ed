import {
  type AssayError,
  type Bond,
  createAssayClient,
  formatUsd,
  lockBond,
  parseUsd,
  readBonds,
  readCredit,
  refundCredit,
  releaseBond,
} from '@assay/sdk'
import { type AgreeOptions, agreeTo, unlessDryRun } from '../buy/agree.ts'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import { answerOf, paymentDocument, refusal } from '../buy/documents.ts'
import { networkId } from '../buy/network-names.ts'
import { type BuyOptions, runBuy } from '../buy/run-buy.ts'
import type { CommandContext } from '../command-context.ts'
import { nodeUrl } from '../commerce/node-url.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { freeClient } from '../free-client.ts'
import { printResult, table, toJson } from '../output.ts'

export type SignerOptions = WalletOptions & { url: string; json?: boolean }

const usd = (micro: string) => formatUsd(BigInt(micro))

export function amountArgument(name: string, text: string): string {
  const micro = parseUsd(text)
  if (micro === undefined || micro === 0n) throw usageError(`${name}: not decimal USD above zero: ${text}`)
  return text
}

/** The amount is the price, so saying it is agreeing to it. */
export async function runTopUp(
  context: CommandContext,
  amount: string,
  options: BuyOptions & { url: string; on: string },
): Promise<void> {
  amountArgument('topup', amount)
  await runBuy(context, `${nodeUrl(options.url)}/v1/credit/topup`, {
    ...options,
    method: 'POST',
    data: JSON.stringify({ usd: amount }),
    network: options.on,
    maxAmount: options.maxAmount ?? amount,
  })
}

const waitTexts: Record<string, string> = {
  approval: 'waits for approval',
  daily_limit: 'waits for the daily limit',
  operator_funds: 'waits for the operator to move the money',
}
const waitText = (waitsFor: string | null | undefined): string => waitTexts[waitsFor ?? ''] ?? ''

export async function showBalance(
  { terminal }: CommandContext,
  node: string,
  wallet: string,
  json: boolean | undefined,
): Promise<void> {
  const account = await readCredit(freeClient(), node, wallet)
  printResult(terminal, json, account, () =>
    [
      table(account.credit, [
        { title: 'network', of: (row) => row.network },
        { title: 'credit USD', of: (row) => row.credit_usd, right: true },
        { title: 'held', of: (row) => usd(row.held_micro), right: true },
        { title: 'bonded', of: (row) => usd(row.bonded_micro), right: true },
        { title: 'not final', of: (row) => usd(row.not_final_micro), right: true },
        { title: 'refundable', of: (row) => usd(row.refundable_micro), right: true },
      ]),
      ...account.refunds.map(
        ({ network, amount_micro, state, waits_for, transaction }) =>
          `refund of ${usd(amount_micro)} USD on ${network}: ${[state, waitText(waits_for), transaction].filter(Boolean).join(', ')}`,
      ),
      ...account.credit
        .filter(({ in_review_micro }) => BigInt(in_review_micro ?? '0') > 0n)
        .map(
          ({ network, in_review_micro }) =>
            `${usd(in_review_micro)} USD on ${network} arrived shortly before a restore; the operator decides about it`,
        ),
    ].join('\n'),
  )
}

export async function runCall(
  { terminal }: CommandContext,
  url: string,
  options: SignerOptions & AgreeOptions & { mandate?: string; maxAmount: string; idempotencyKey?: string },
): Promise<void> {
  const target = new URL(url, nodeUrl(options.url)).href
  const { account } = await chooseWallet(target, options, terminal)
  const client = createAssayClient({
    account,
    // Credit alone: this command never pays on chain.
    networks: [],
    maxPerCallUsd: amountArgument('--max-amount', options.maxAmount),
    confirm: agreeTo(terminal, options),
    credit: options.mandate === undefined ? 'prefer' : { mandate: options.mandate },
  })
  const { idempotencyKey: key } = options
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
  const result = await unlessDryRun(terminal, options, () =>
    terminal.untilInterrupted((signal) => client.fetch(target, { headers, signal })).catch(nameCall),
  )
  if (result === undefined) return
  const { response, payment } = result
  const text = await response.text()
  if (!response.ok) throw refusal(result, answerOf(text))
  if (options.json)
    return terminal.out(toJson({ payment: paymentDocument(payment, undefined), answer: answerOf(text) }))
  terminal.out(text)
  if (payment.status === 'drawn')
    terminal.say(
      `drawn ${usd(payment.amountMicro)} USD${payment.leftMicro === undefined ? '' : `, ${usd(payment.leftMicro)} left`}`,
    )
}

/** Each try is signed afresh, so that there is nothing to save but the name under which it is drawn once. */
function nameCall(error: unknown): never {
  const { code, message, details } = error as AssayError
  if (code !== 'payment_outcome_unknown' || typeof details['key'] !== 'string') throw error
  throw new CliError(exitCodes.outcomeUnknown, code, message, {
    hint: `Run the same command again with --idempotency-key ${details['key']}: it is drawn once.`,
    details: { idempotency_key: details['key'] },
    cause: error,
  })
}

export async function runRefund(
  { terminal }: CommandContext,
  node: string,
  options: SignerOptions & { usd?: string; on?: string },
): Promise<void> {
  const { account, names } = await chooseWallet(node, options, terminal)
  const network = options.on === undefined ? undefined : networkId(options.on, names)
  if (options.usd !== undefined && network === undefined)
    throw usageError('--usd needs --on: credit is held on a chain')
  const refund = await refundCredit(freeClient(), {
    node,
    account,
    ...(options.usd === undefined ? {} : { usd: amountArgument('--usd', options.usd) }),
    ...(network === undefined ? {} : { network }),
  })
  printResult(terminal, options.json, refund, () =>
    refund.refunds
      .map(
        (one) =>
          `${usd(one.paid_micro)} USD on its way on ${one.network} (${usd(one.cost_micro)} kept for the transfer), ${one.payout}: ${one.state}`,
      )
      .join('\n'),
  )
}

const bondText = (bond: Bond): string =>
  `${bond.id}  ${usd(bond.bonded_micro)} USD on ${bond.network}  ${bond.state}, locked until ${bond.locked_until_at}` +
  `${bond.release_at === null ? '' : `, back at ${bond.release_at}`}` +
  `${bond.slashed_micro === '0' ? '' : `, ${usd(bond.slashed_micro)} taken`}`

export async function runBond(
  { terminal }: CommandContext,
  node: string,
  amount: string,
  options: SignerOptions & { days: number; on: string },
): Promise<void> {
  amountArgument('bond', amount)
  const { account, names } = await chooseWallet(node, options, terminal)
  const bond = await lockBond(freeClient(), {
    node,
    account,
    usd: amount,
    days: options.days,
    network: networkId(options.on, names),
  })
  printResult(terminal, options.json, bond, () => bondText(bond))
}

export async function runRelease(
  { terminal }: CommandContext,
  node: string,
  id: string,
  options: SignerOptions,
): Promise<void> {
  const { account } = await chooseWallet(node, options, terminal)
  const bond = await releaseBond(freeClient(), { node, account, bond: id })
  printResult(terminal, options.json, bond, () => bondText(bond))
}

export async function showBonds(
  { terminal }: CommandContext,
  node: string,
  wallet: string,
  json: boolean | undefined,
): Promise<void> {
  const bonds = await readBonds(freeClient(), node, wallet)
  printResult(terminal, json, { data: bonds }, () =>
    bonds.length === 0 ? 'nothing is at stake' : bonds.map(bondText).join('\n'),
  )
}
