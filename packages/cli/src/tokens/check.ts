import type { TokenCheck, TokenParty, TokenPower } from '@assay/sdk'
import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { printResult } from '../output.ts'
import { nodeOption, tokenUrl } from './node-option.ts'

type CheckOptions = { node: string; wallet?: string; json?: boolean }

export const addCheck: AddCommand = (program, context) => {
  program
    .command('check')
    .summary('Check who controls a B20 token, free')
    .description(
      'Show who can mint, seize, freeze, pause or change a B20 token, and verify the signature of the answer.\n' +
        'What could not be read is UNKNOWN and never counts as a pass.',
    )
    .argument('<address>', 'the token')
    .option(...nodeOption)
    .option('--wallet <address>', 'also show what this wallet can do and what can be done to it')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay check 0xb200… --wallet 0x1234…')
    .action((address: string, options: CheckOptions) => runCheck(context, address, options))
}

async function runCheck({ terminal }: CommandContext, address: string, options: CheckOptions): Promise<void> {
  const url = tokenUrl(options.node, '/v1/check', address)
  const { checkToken, createAssayClient } = await import('@assay/sdk')
  const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
  // Nothing is ever paid with it: the check is free and the maximum is zero.
  const account = privateKeyToAccount(generatePrivateKey())
  const client = createAssayClient({ account, baseUrl: url.origin, maxPerCallUsd: '0' })
  const { response } = await checkToken(client, address, options.wallet === undefined ? {} : { wallet: options.wallet })
  const body = (await response.json()) as TokenCheck & { title?: string; detail?: string; hint?: string; code?: string }
  if (!response.ok)
    throw new CliError(
      exitCodes.failed,
      body.code ?? `status_${response.status}`,
      body.detail ?? body.title ?? 'no answer',
      {
        ...(body.hint === undefined ? {} : { hint: body.hint }),
        details: { status: response.status },
      },
    )
  printResult(terminal, options.json, body, () => checkText(body))
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
    ...power.who.map(party(power.now === 'armed' ? 'now:' : 'role:')),
    ...(power.who.length > 0 && power.now === 'armed' ? [] : power.could_become.map(party('could:'))),
  ]
}

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

function walletLines({ wallet }: TokenCheck): string[] {
  if (wallet === undefined) return []
  const asked = ['hold', 'send', 'receive', 'be_frozen', 'be_seized'] as const
  return [
    '',
    `  ${wallet.wallet}  balance ${typeof wallet.balance === 'string' ? wallet.balance : 'unknown'}`,
    ...asked.map((name) => `  ${name.padEnd(10)} ${wallet[name].answer.padEnd(8)} ${wallet[name].why}`),
  ]
}
