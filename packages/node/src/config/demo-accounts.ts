import { type DemoAccount, demoAccount, demoAccounts as tillAccounts } from '@assay/till/devnet/accounts'

type WithRoles = { demoRoles?: readonly string[] }

/** Further accounts on the chains of a demo node: those that its shops need. */
export const demoRolesOf = (shops: readonly WithRoles[]): string[] => [
  ...new Set(shops.flatMap(({ demoRoles }) => demoRoles ?? [])),
]

/** All that are funded on the chains of a demo node, with keys that everybody has. */
export const demoAccountsOf = (shops: readonly WithRoles[]): DemoAccount[] => [
  ...tillAccounts,
  ...demoRolesOf(shops).map(demoAccount),
]
