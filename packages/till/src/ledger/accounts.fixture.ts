import { chainAccount } from './accounts.ts'

/** Money of a test that came from nowhere: an asset that no transfer has to explain. */
export const externalAccount = (network: string) => chainAccount('asset', false, network, 'onchain:external')
