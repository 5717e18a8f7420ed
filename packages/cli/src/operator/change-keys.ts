import type { Keyring } from '@assay/node'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import type { Operator } from './connect.ts'
import { keyChangeDeps, keyFileOf, type Purpose, type WalletOptions, withKeyring } from './key-changes.ts'

export type ChangeOptions = WalletOptions & { json?: boolean; yes?: boolean; dryRun?: boolean }

export async function listKeys({ terminal }: CommandContext, operator: Operator, json?: boolean): Promise<void> {
  const answers = await withKeyring(operator, 'response', async (keyring) => listOf(operator, keyring))
  const log = await withKeyring(operator, 'log', async (keyring) => listOf(operator, keyring))
  const { statements, ...shown } = answers
  const document = { ...shown, log: { active_key_id: log.active_key_id, keys: log.keys }, statements }
  const rows = [
    ...answers.keys.map((key) => ({ ...key, signs: 'answers' })),
    ...log.keys.map((key) => ({ ...key, signs: 'the log' })),
  ]
  printResult(terminal, json, document, () =>
    table(rows, [
      { title: 'key', of: (row) => row.kid },
      { title: 'state', of: (row) => row.state },
      { title: 'signs', of: (row) => row.signs },
      { title: 'valid from', of: (row) => timeText(row.nbf) },
      { title: 'until', of: (row) => (row.exp === undefined ? '' : timeText(row.exp)) },
    ]),
  )
}

function listOf({ node }: Operator, keyring: Keyring) {
  const { keys, statements } = node.keyDirectory(keyring)
  const active = keyring.active().keyId
  const signing = new Set(keyring.signers().map(({ keyId }) => keyId))
  const activeAt = keys.findIndex((key) => key.kid === active)
  const rows = keys.map((key, index) => ({
    ...key,
    state:
      key.kid !== active && keyring.purpose === 'log' && signing.has(key.kid)
        ? 'still signs'
        : stateOf(key.revoked_at, index - activeAt),
  }))
  return { active_key_id: active, keys: rows, statements }
}

/** Newest first, so those before the one in use are still to come. */
function stateOf(revokedAt: string | undefined, behindActive: number): string {
  if (revokedAt !== undefined) return 'revoked'
  if (behindActive === 0) return 'signs now'
  return behindActive < 0 ? 'published, not used yet' : 'retired'
}

const timeText = (seconds: number) => new Date(seconds * 1000).toISOString()

export async function rotateKeys(
  context: CommandContext,
  operator: Operator,
  options: ChangeOptions & { overlap: number },
  purpose: Purpose = 'response',
) {
  const { terminal } = context
  const minutes = options.overlap
  await withKeyring(operator, purpose, async (keyring, place) => {
    const deps = keyChangeDeps(operator, keyring, terminal, options, place)
    const { node, operator: wallet } = deps.identity
    const what =
      purpose === 'log'
        ? `a new key for the log of ${node}, in use at once and for ${minutes} min beside the old one, vouched for by ${wallet}`
        : `a new key for ${node}, in use in ${minutes} min, vouched for by ${wallet}`
    if (!(await goOn(context, `Publish ${what}?`, options))) return
    const { keyId, activatesAtMs } = await operator.node.rotateKey(deps, { overlapMs: minutes * 60_000 })
    const action = purpose === 'log' ? 'log.rotate_key' : 'keys.rotate'
    await audit(operator, action, keyId, { activates_at: new Date(activatesAtMs).toISOString() })
    printResult(terminal, options.json, { key_id: keyId, activates_at: new Date(activatesAtMs).toISOString() }, () =>
      [`published ${keyId}`, `it signs from ${new Date(activatesAtMs).toISOString()}`].join('\n'),
    )
    sayFile(context, operator, purpose)
  })
}

export async function revokeKeys(
  context: CommandContext,
  operator: Operator,
  keyId: string,
  options: ChangeOptions & { at?: string },
): Promise<void> {
  const { terminal } = context
  const revokedAtMs = options.at === undefined ? operator.node.systemClock.nowMs() : Date.parse(options.at)
  const purpose = await purposeOf(operator, keyId)
  await withKeyring(operator, purpose, async (keyring, place) => {
    const deps = keyChangeDeps(operator, keyring, terminal, options, place)
    const at = new Date(revokedAtMs).toISOString()
    if (!(await goOn(context, `Revoke ${keyId} as of ${at}? This cannot be undone.`, options))) return
    const { activeKeyId } = await operator.node.revokeKey(deps, { keyId, revokedAtMs })
    await audit(operator, 'keys.revoke', keyId, { revoked_at: at, active_key_id: activeKeyId })
    printResult(terminal, options.json, { revoked: keyId, revoked_at: at, active_key_id: activeKeyId }, () =>
      [`revoked ${keyId} as of ${at}`, `${activeKeyId} signs now`].join('\n'),
    )
    sayFile(context, operator, purpose)
  })
}

async function purposeOf(operator: Operator, keyId: string): Promise<Purpose> {
  for (const purpose of ['response', 'log'] as const) {
    const known = (keyring: Keyring) => keyring.keys().some((key) => key.keyId === keyId)
    if (await withKeyring(operator, purpose, async (keyring) => known(keyring))) return purpose
  }
  throw new CliError(exitCodes.failed, 'no_such_key', `the keyring has no key ${keyId}`, {
    hint: '`assay keys list` shows the keys.',
  })
}

/** Bearer tokens of subscriptions and passes: they are made from a secret in the database, not from signing keys. */
export async function revokeAllTokens(
  context: CommandContext,
  operator: Operator,
  options: ChangeOptions,
): Promise<void> {
  const question = 'Revoke all bearer tokens of subscriptions and passes? Their wallets have to get new ones.'
  if (!(await goOn(context, question, options))) return
  const { node, database } = operator
  const { version } = await node.revokeTokens(database, node.systemRng, node.systemClock.nowMs())
  await audit(operator, 'keys.revoke_tokens', String(version), {})
  printResult(context.terminal, options.json, { revoked: 'all', secret_version: version }, () =>
    [`all bearer tokens are revoked`, `new ones are made with version ${version} of the secret`].join('\n'),
  )
}

/** False after --dry-run; throws when the person says no. */
async function goOn({ terminal }: CommandContext, question: string, options: ChangeOptions): Promise<boolean> {
  if (options.dryRun) {
    printResult(terminal, options.json, { dry_run: true, would: question }, () => `would ask: ${question}`)
    return false
  }
  if (options.yes) return true
  if (!terminal.interactive) throw usageError('confirmation needs a terminal', 'Add --yes when this is what you want.')
  if (await terminal.confirm(question)) return true
  throw new CliError(exitCodes.refused, 'not_confirmed', 'not confirmed; nothing was changed')
}

function sayFile({ terminal }: CommandContext, { config }: Operator, purpose: Purpose): void {
  const file = keyFileOf(config, purpose)
  if (file !== undefined)
    terminal.say(`the private key was added to ${file}: copy that file to every process of this node`)
}

async function audit(
  { node, database, actor }: Operator,
  action: string,
  subject: string,
  details: Record<string, string>,
) {
  await database.transaction((tx) => node.writeAudit(tx, { actor, action, subject, details }))
}
