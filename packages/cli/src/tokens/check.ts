import { readFile } from 'node:fs/promises'
import type { AssayClient, TokenBatch, TokenCheck, TokenDiff, TokenList, TokenParty, TokenPower } from '@assay/sdk'
import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { nodeOption } from '../find-node.ts'
import { printResult } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { tokenUrl } from './node-option.ts'

type CheckOptions = {
  url: string
  wallet?: string
  holdings?: string
  file?: string
  block?: string
  since?: string
  json?: boolean
}

export const addCheck: AddCommand = (program, context) => {
  program
    .command('check')
    .summary('Check who controls B20 tokens, free')
    .description(
      'Show who can mint, seize, freeze, pause or change a B20 token, and verify the signature of the answer.\n' +
        'Several tokens, up to 100, are read at one block and listed one a line.\n' +
        'What could not be read is UNKNOWN and never counts as a pass.',
    )
    .argument('[addresses...]', 'the tokens')
    .option(...nodeOption)
    .option('--file <path>', 'read addresses from a file, one a line')
    .option('--wallet <address>', 'also show what this wallet can do and what can be done to it')
    .option('--holdings <address>', 'check every token of the list of the node that this wallet holds')
    .option('--block <number>', 'the verdict at a past block')
    .option('--since <number>', 'what changed since a block, up to --block or now')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  assay check $TOKEN --wallet $WALLET\n  assay check --file holdings.txt\n  assay check $TOKEN --since $BLOCK',
    )
    .action((addresses: string[], options: CheckOptions) => runCheck(context, addresses, options))
}

const batchMax = 100

async function runCheck({ terminal }: CommandContext, given: string[], options: CheckOptions): Promise<void> {
  if (options.holdings !== undefined) return printHoldings(terminal, options, options.holdings)
  const addresses = [...given, ...(options.file === undefined ? [] : await addressesIn(options.file))]
  const [first] = addresses
  if (first === undefined) throw usageError('no address given', 'Name tokens, or a file with --file.')
  if (addresses.length > batchMax) throw usageError(`${addresses.length} addresses; one call takes ${batchMax}`)
  const [url] = addresses.map((address) => tokenUrl(options.url, '/v1/check', address)) as [URL]
  const { checkToken, checkTokens, diffToken } = await import('@assay/sdk')
  const client = await freeClient(url.origin)
  const { block, since, wallet } = options
  if (addresses.length > 1) {
    if (block !== undefined || since !== undefined) throw usageError('--block and --since take one address')
    const batch = await answerOf<TokenBatch>(checkTokens(client, addresses, wallet === undefined ? {} : { wallet }))
    return printResult(terminal, options.json, batch, () => batchText(batch))
  }
  if (since !== undefined) {
    const blocks = { from: since, ...(block === undefined ? {} : { to: block }) }
    const diff = await answerOf<TokenDiff>(diffToken(client, first, blocks))
    return printResult(terminal, options.json, diff, () => diffText(diff))
  }
  const asked = { ...(wallet === undefined ? {} : { wallet }), ...(block === undefined ? {} : { block }) }
  const check = await answerOf<TokenCheck>(checkToken(client, first, asked))
  printResult(terminal, options.json, check, () => checkText(check))
}

async function freeClient(baseUrl: string): Promise<AssayClient> {
  const { createAssayClient } = await import('@assay/sdk')
  const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
  // Nothing is ever paid with it: the check is free and the maximum is zero.
  return createAssayClient({ account: privateKeyToAccount(generatePrivateKey()), baseUrl, maxPerCallUsd: '0' })
}

/** Goes through the list of the node page by page; each page is read at one block. */
async function printHoldings(terminal: Terminal, options: CheckOptions, wallet: string): Promise<void> {
  const { checkTokens } = await import('@assay/sdk')
  const client = await freeClient(tokenUrl(options.url, '/v1/check', wallet).origin)
  const held: TokenBatch['data'] = []
  let block: TokenBatch['block'] | undefined
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page: TokenList = await answerOf(client.fetch(`/v1/tokens?limit=${batchMax}${query}`))
    cursor = page.next_cursor
    if (page.data.length === 0) break
    const addresses = page.data.map(({ address }) => address)
    const batch = await answerOf<TokenBatch>(checkTokens(client, addresses, { wallet }))
    block = batch.block
    // What could not be read is shown too: it may be held.
    held.push(...batch.data.filter((one) => !('wallet' in one) || one.wallet?.balance !== '0'))
  }
  const result = { block: block ?? null, data: held, next_cursor: null }
  printResult(terminal, options.json, result, () =>
    block === undefined ? 'this node lists no tokens yet' : batchText({ ...result, block }),
  )
}

async function addressesIn(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw usageError(`--file: cannot read ${path}`)
  })
  return text.split(/[\s,;]+/).filter((word) => word !== '')
}

async function answerOf<T>(asked: Promise<{ response: Response }>): Promise<T> {
  const { response } = await asked
  const body = (await response.json()) as T & { title?: string; detail?: string; hint?: string; code?: string }
  if (response.ok) return body
  throw new CliError(
    exitCodes.failed,
    body.code ?? `status_${response.status}`,
    body.detail ?? body.title ?? 'no answer',
    {
      ...(body.hint === undefined ? {} : { hint: body.hint }),
      details: { status: response.status },
    },
  )
}

/** One line a token: verdict, completeness, what is armed. */
export function batchText({ block, data }: TokenBatch): string {
  const lines = data.map((one) => {
    if ('problem' in one) return `${one.address}  ${'-'.padEnd(20)}  ${String(one.problem.detail ?? one.problem.title)}`
    const armed = Object.entries(one.powers).flatMap(([name, power]) => (power.now === 'armed' ? [name] : []))
    const verdict = `${one.verdict}${one.complete ? '' : ' (incomplete)'}`
    return `${one.address}  ${verdict.padEnd(20)}  ${armed.join(', ') || 'no power can be used now'}`
  })
  return [...lines, `read at block ${block.number} (${block.at})`].join('\n')
}

export function diffText({ address, from, to, changes, events }: TokenDiff): string {
  const value = (one: unknown) => (typeof one === 'string' ? one : JSON.stringify(one))
  return [
    `${address}  ${from.verdict} at block ${from.block.number}, ${to.verdict} at block ${to.block.number}`,
    ...(changes.length === 0 ? ['  no field differs'] : []),
    ...changes.map(({ field, before, after }) => `  ${field}: ${value(before)} -> ${value(after)}`),
    ...events.map((event) => `  block ${String(event.block_number)}: ${String(event.text)}`),
  ].join('\n')
}

export function checkText(check: TokenCheck): string {
  const { token } = check
  const name = [token.name, token.symbol].map((part) => (typeof part === 'string' ? part : 'unknown'))
  const lines = [
    `${name[0]} (${name[1]})  ${check.address}${check.synthetic ? '  synthetic demo data' : ''}`,
    `${check.verdict}: ${check.summary}`,
    check.complete ? '' : `NOT COMPLETE: ${check.completeness.missing.map(({ detail }) => detail).join('; ')}`,
    '',
    ...Object.entries(check.powers).flatMap(([name, power]) => powerLines(name, power)),
    '',
    ...check.flags.map((flag) => `  ${flag.severity.padEnd(8)} ${flag.sentence}`),
    ...walletLines(check),
    '',
    `read at block ${check.block.number} (${check.block.at}), valid until ${check.valid_until_at}`,
    // What cannot be read completely is not sold.
    check.complete ? `full report for ${check.report.price_usd} USD: assay report ${check.address}` : '',
  ]
  return lines
    .filter((line, i) => line !== '' || lines[i - 1] !== '')
    .join('\n')
    .trimEnd()
}

/** One line for the power, then who has it and who could come to have it. */
function powerLines(name: string, power: TokenPower): string[] {
  const state = power.state === 'exercised' ? `${power.now}, used before` : power.state
  const party = (how: string) => (one: TokenParty) => `${' '.repeat(17)}${how} ${partyText(one)}`
  return [
    `  ${name.padEnd(13)} ${state.padEnd(20)}${power.state === 'impossible' ? '' : power.why}`.trimEnd(),
    ...power.who.map(party('now:')),
    ...moreLine(power.who_count - power.who.length),
    ...(power.who.length > 0 ? [] : power.could_become.map(party('could:'))),
    ...(power.who.length > 0 ? [] : moreLine(power.could_become_count - power.could_become.length)),
  ]
}

const moreLine = (more: number): string[] => (more > 0 ? [`${' '.repeat(17)}and ${more} more, in the report`] : [])

const kindTexts: Record<string, string> = {
  eoa: 'ordinary account',
  delegated_eoa: 'account with delegated code',
  zero: 'address zero',
  presumed_dead: 'presumed dead',
}

function partyText({ account, label, how, alone }: TokenParty): string {
  const safe = label.kind === 'safe' ? `Safe, ${label.threshold} of ${label.owners?.length}` : undefined
  const kind = safe ?? kindTexts[label.kind] ?? label.kind
  return `${account} (${kind}) ${how}${alone === false ? ', only together with others' : ''}`
}

/** In units of the token where its decimals are known; the smallest units otherwise, and said so. */
function balanceText({ token, wallet }: TokenCheck): string {
  const { balance } = wallet ?? {}
  if (typeof balance !== 'string') return 'unknown'
  const { decimals, symbol } = token
  if (typeof decimals !== 'number') return `${balance} of the smallest unit; the decimals are unknown`
  const digits = balance.padStart(decimals + 1, '0')
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '')
  const whole = digits.slice(0, digits.length - decimals)
  return `${whole}${fraction === '' ? '' : `.${fraction}`} ${typeof symbol === 'string' ? symbol : 'units'}`
}

function walletLines(check: TokenCheck): string[] {
  const { wallet } = check
  if (wallet === undefined) return []
  const asked = ['hold', 'send', 'receive', 'be_frozen', 'be_seized'] as const
  return [
    '',
    `  ${wallet.wallet}  balance ${balanceText(check)}`,
    ...asked.map((name) => `  ${name.padEnd(10)} ${wallet[name].answer.padEnd(8)} ${wallet[name].why}`),
  ]
}
