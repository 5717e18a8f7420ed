import { type Command, InvalidArgumentError } from 'commander'
import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { timeText } from '../read-option.ts'
import type { ChangeOptions } from './change-keys.ts'
import { withOperator } from './connect.ts'

export const minutesOf = (text: string): number => {
  const minutes = text === '' ? Number.NaN : Number(text)
  if (!(minutes >= 0 && minutes <= 100_000)) throw new InvalidArgumentError('It must be minutes, 0 to 100000.')
  return minutes
}

export const addKeys: AddCommand = (program, context) => {
  const group = program
    .command('keys')
    .summary('List, rotate and revoke signing keys')
    .description(
      'Keys of the node that the environment configures; it may be running. Changes are vouched for by the operator ' +
        'wallet (OPERATOR_KEY; in demo mode the demo operator).',
    )
  group
    .command('list')
    .description('List every key ever published, newest first')
    .option(...jsonOption)
    .action(({ json }: { json?: boolean }) =>
      withOperator(context.terminal, async (operator) => {
        const { listKeys } = await import('./change-keys.ts')
        await listKeys(context, operator, json)
      }),
    )
  addRotate(group, context)
  addRevoke(group, context)
  addRevokeTokens(group, context)
}

const addRotate: AddCommand = (group, context) => {
  const command = group
    .command('rotate')
    .description(
      'Publish a new key now and use it after the overlap. The old key and the operator wallet vouch for it, so that ' +
        'clients that pinned the old key follow.',
    )
    .option('--overlap <minutes>', 'time between publishing the new key and using it', minutesOf, 10)
  completeRotation(command, context)
}

/** The options that rotations of both kinds of keys share, and what they do. */
export const completeRotation = (command: Command, context: CommandContext, purpose?: 'log') =>
  command
    .option('--url <origin>', 'base address of the node (BASE_URL, or the address on this machine)')
    .option('--allow-new-wallet', 'allow a different wallet to vouch')
    .option('--dry-run', 'show what would be done')
    .option('-y, --yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((options: ChangeOptions & { overlap: number }) =>
      withOperator(context.terminal, async (operator) => {
        const { rotateKeys } = await import('./change-keys.ts')
        await rotateKeys(context, operator, options, purpose)
      }),
    )

const addRevoke: AddCommand = (group, context) => {
  group
    .command('revoke')
    .description(
      'Revoke a lost or stolen key as of a time. If no other key can sign, a new one is used immediately, vouched for ' +
        'by the wallet alone.',
    )
    .argument('<key-id>', 'from `assay keys list`')
    .option(
      '--at <time>',
      'when the key was lost, RFC 3339; signatures made later do not count (now, if absent)',
      timeText,
    )
    .option('--url <origin>', 'base address of the node (BASE_URL, or the address on this machine)')
    .option('--allow-new-wallet', 'allow a different wallet to vouch')
    .option('--dry-run', 'show what would be done')
    .option('-y, --yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((keyId: string, options: ChangeOptions & { at?: string }) =>
      withOperator(context.terminal, async (operator) => {
        const { revokeKeys } = await import('./change-keys.ts')
        await revokeKeys(context, operator, keyId, options)
      }),
    )
}

/**
 * Key ids are base64url: one in 64 starts with a dash and would be read as options. Where `keys revoke` is given such an
 * id, it moves behind `--`, after which everything is an argument. No option is as long as a key id.
 */
export function withKeyIdLast(args: readonly string[]): readonly string[] {
  if (args[0] !== 'keys' || args[1] !== 'revoke' || args.includes('--')) return args
  const keyIds = args.filter((arg) => /^-[A-Za-z0-9_-]{42}$/.test(arg))
  return keyIds.length === 0 ? args : [...args.filter((arg) => !keyIds.includes(arg)), '--', ...keyIds]
}

const addRevokeTokens: AddCommand = (group, context) => {
  group
    .command('revoke-tokens')
    .description('Revoke all bearer tokens of subscriptions and passes, immediately and in all processes')
    .option('--dry-run', 'show what would be done')
    .option('-y, --yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((options: ChangeOptions) =>
      withOperator(context.terminal, async (operator) => {
        const { revokeAllTokens } = await import('./change-keys.ts')
        await revokeAllTokens(context, operator, options)
      }),
    )
}
