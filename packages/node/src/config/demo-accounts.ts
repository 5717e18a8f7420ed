import { type DemoAccount, demoAccount, demoAccounts as tillAccounts } from '@assay/till/devnet/accounts'

/** Further accounts on the chains of a demo node: whom its shops pay. */
export const demoRoles: readonly string[] = ['creator', 'affiliate']

/** All that are funded on the chains of a demo node, with keys that everybody has. */
export const demoAccounts: readonly DemoAccount[] = [...tillAccounts, ...demoRoles.map(demoAccount)]
