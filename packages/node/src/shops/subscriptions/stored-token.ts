import type { Address } from '@assay/protocol/address'
import type { TokenMaker } from '@assay/till/signing'
import type { Sql } from '@assay/till/store/database'
import { tokenName } from './grant-period.ts'
import type { Product } from './policy.ts'
import type { Subscription } from './store.ts'

/** What a stored answer says of its token: enough to make it again, and nothing that opens anything. */
export type StoredToken = { version: number; secret_version: number }

export function storedToken({ tokenVersion, tokenSecret }: Subscription): StoredToken {
  return { version: tokenVersion, secret_version: tokenSecret }
}

/** Null once the tokens of its secret were revoked. */
export async function tokenOf(
  sql: Sql,
  tokens: TokenMaker,
  wallet: Address,
  { version, secret_version }: StoredToken,
  product?: Product,
): Promise<string | null> {
  return (await tokens.remake(sql, secret_version, tokenName(wallet, version, product))) ?? null
}
