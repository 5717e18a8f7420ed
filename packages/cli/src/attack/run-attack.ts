import { isLoopbackUrl, parseUsd } from '@assay/sdk'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { type Attack, leftOut, type Outcome } from './attack.ts'
import { forgedPayments } from './forged-payments.ts'
import { realPayments } from './real-payments.ts'
import { signedTwice } from './signed-twice.ts'
import { openTarget, type Target } from './target.ts'
import { withoutPaying } from './without-paying.ts'

export type AttackOptions = WalletOptions & {
  data?: string
  rpc?: string
  maxAmount: string
  only?: string
  list?: boolean
  thisSellerIsMine?: boolean
  json?: boolean
}

export const attacks: readonly Attack[] = [...withoutPaying, ...forgedPayments, ...realPayments, ...signedTwice]

export async function runAttack(context: CommandContext, url: string, options: AttackOptions): Promise<void> {
  const { terminal, endWith } = context
  if (options.list) return printList(context, options)
  if (!URL.canParse(url)) throw usageError(`not a URL: ${url}`)
  if (!isLoopbackUrl(url) && !options.thisSellerIsMine)
    throw usageError(
      'this seller is not on this machine',
      'Attack only what is yours: add --this-seller-is-mine if it is.',
    )
  const chosen = chooseAttacks(options.only)
  const wallet = await chooseWallet(url, options, terminal)
  const rpc = options.rpc ?? (options.demo ? await demoRpc(url) : undefined)
  const target = await openTarget({ url, body: options.data, account: wallet.account, rpc })
  const budget = parseUsd(options.maxAmount)
  if (budget === undefined) throw usageError(`--max-amount: not decimal USD: ${options.maxAmount}`)
  const results: ({ id: string; title: string } & Outcome)[] = []
  let left = budget
  for (const attack of chosen) {
    terminal.status(`${attack.title} …`)
    const cost = BigInt(attack.purchases) * target.priceMicro
    const outcome =
      cost > left ? leftOut('its purchases would cost more than --max-amount leaves') : await run(attack, target)
    if (cost <= left) left -= cost
    results.push({ id: attack.id, title: attack.title, ...outcome })
  }
  const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length
  const summary = {
    held: count('held'),
    broken: count('broken'),
    unclear: count('unclear'),
    left_out: count('left_out'),
  }
  printResult(terminal, options.json, { url, ...summary, attacks: results }, () =>
    [
      table(results, [
        { title: 'attack', of: ({ title }) => title },
        { title: 'seller', of: ({ verdict }) => (verdict === 'broken' ? 'BROKEN' : verdict.replace('_', ' ')) },
        { title: 'what was seen', of: ({ detail }) => detail },
      ]),
      '',
      `${summary.held} held, ${summary.broken} broken, ${summary.unclear} unclear, ${summary.left_out} left out`,
    ].join('\n'),
  )
  if (summary.broken > 0) endWith(exitCodes.failed)
}

/** An attack that fails itself says nothing about the seller. */
const run = (attack: Attack, target: Target): Promise<Outcome> =>
  attack
    .run(target)
    .catch(
      (error: unknown) =>
        ({ verdict: 'unclear', detail: `the attack failed: ${String(error).slice(0, 120)}` }) as const,
    )

function chooseAttacks(only: string | undefined): readonly Attack[] {
  if (only === undefined) return attacks
  const ids = only.split(',').map((id) => id.trim())
  const unknown = ids.filter((id) => !attacks.some((attack) => attack.id === id))
  if (unknown.length > 0) throw usageError(`no such attack: ${unknown.join(', ')}`, '--list names them.')
  return attacks.filter(({ id }) => ids.includes(id))
}

function printList({ terminal }: CommandContext, options: AttackOptions): void {
  const rows = attacks.map(({ id, title, purchases }) => ({ id, title, purchases }))
  printResult(terminal, options.json, { attacks: rows }, () =>
    table(rows, [
      { title: 'id', of: ({ id }) => id },
      { title: 'attack', of: ({ title }) => title },
      { title: 'purchases', of: ({ purchases }) => String(purchases), right: true },
    ]),
  )
}

async function demoRpc(url: string): Promise<string | undefined> {
  const index = (await (await fetch(new URL('/', url), { headers: { accept: 'application/json' } })).json()) as {
    demo?: { chains?: { network: string; rpc: string }[] }
  }
  return index.demo?.chains?.find(({ network }) => network === 'eip155:8453')?.rpc
}
