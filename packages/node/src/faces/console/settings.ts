import { hasChecksum, parseAddress } from '@assay/protocol/address'
import { operatorRoles } from '@assay/protocol/operator-role'
import { SettingsError, type Variables } from '../../shops/shop-settings.ts'
import type { Operator } from './caller.ts'

export const consoleVariables = {
  OPERATORS: {
    kind: 'list',
    shown: '`PAY_TO`',
    description:
      "Wallets, comma-separated, that may use the operator's page of the console, each with a role behind a colon: `0x…:read` sees the books, `0x…:operate` also pauses, resumes and rejects disputes, `0x…:withdraw` may do everything. Without a role: everything.",
    secret: false,
  },
} as const satisfies Variables

/** `address` or `address:role`; the highest role where none is named. */
export function parseOperators(list: readonly string[]): Operator[] {
  const problems: string[] = []
  const operators = list.flatMap((text): Operator[] => {
    const [addressText = '', roleText = 'withdraw', ...more] = text.split(':')
    const address = hasChecksum(addressText) ? parseAddress(addressText) : undefined
    const role = operatorRoles.find((known) => known === roleText)
    if (address === undefined)
      problems.push('OPERATORS: must be addresses with their EIP-55 checksums, such as 0x… or 0x…:read')
    if (role === undefined || more.length > 0)
      problems.push(`OPERATORS: ${roleText} is no role, one of ${operatorRoles.join(', ')}`)
    return address === undefined || role === undefined ? [] : [{ address, role }]
  })
  if (new Set(operators.map(({ address }) => address)).size < operators.length)
    problems.push('OPERATORS: names a wallet twice')
  if (problems.length > 0) throw new SettingsError(problems)
  return operators
}
