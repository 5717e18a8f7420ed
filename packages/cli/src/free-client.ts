import { type AssayClient, createAssayClient } from '@assay/sdk'
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from 'viem/accounts'

/** For free calls: it cannot pay. `account` signs calls that need a proof of identity. */
export const freeClient = (account: LocalAccount = privateKeyToAccount(generatePrivateKey())): AssayClient =>
  createAssayClient({ account, networks: [], maxPerCallUsd: '0' })
