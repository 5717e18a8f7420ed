import { type Check, warn } from './check.ts'

type Rows = { rows: { restored: string | null }[] }

/**
 * What was revoked since the backup is in force again after a restore. The node pauses what moves money by itself; of the
 * rest only the operator knows. Not said again once the tokens are new, or a month later.
 */
export async function checkRestore(client: { query(text: string): Promise<unknown> }): Promise<Check[]> {
  const { rows } = (await client.query(
    `select max(noticed_at)::date::text as restored from restore_gap where noticed_at > now() - interval '30 days'
       and noticed_at > coalesce((select max(created_at) from token_secret), '-infinity')`,
  )) as Rows
  const restored = rows[0]?.restored ?? null
  if (restored === null) return []
  return [
    warn(
      'restore',
      `restored on ${restored}: bearer tokens, signing keys, roles and addresses that were revoked since the backup are valid again`,
      'revoke them again (docs/operations.md, "After a restore"); `assay keys revoke-tokens` ends all tokens and this warning',
    ),
  ]
}
