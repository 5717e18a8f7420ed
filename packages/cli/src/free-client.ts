import { type AssayClient, createAssayClient } from '@assay/sdk'
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from 'viem/accounts'

/** For free calls: it can pay nothing, and anyone who signs one is named with it. */
export const freeClient = (account: LocalAccount = privateKeyToAccount(generatePrivateKey())): AssayClient =>
  createAssayClient({ account, networks: [], maxPerCallUsd: '0' })
