import type { OperatorRole } from '@assay/protocol/operator-role'
import type pg from 'pg'
import { appRole } from './app-role.ts'

/**
 * What a login of the server may do beside the node: read everything but secrets and bought answers; also change what
 * `operator_access` names, which moves no money; or all that the node may. It has this and nothing else from now on.
 */
export async function setOperatorAccess(
  client: pg.ClientBase,
  login: string,
  access: OperatorRole | 'none',
): Promise<'set' | 'no_such_login' | 'node_login'> {
  const { rows } = await client.query<{ own: boolean; is_app: boolean }>(
    `select r.rolname = current_user as own,
       exists (select from pg_auth_members m where m.member = r.oid and m.roleid = to_regrole($2)) as is_app
     from pg_roles r where r.rolname = $1 and r.rolcanlogin`,
    [login, appRole],
  )
  if (!rows[0]) return 'no_such_login'
  // Changing the node's own login would remove its rights.
  if (rows[0].own) return 'node_login'
  const name = client.escapeIdentifier(login)
  await client.query('begin')
  try {
    await client.query(`revoke all on all tables in schema public from ${name}`)
    await client.query(`revoke all on all sequences in schema public from ${name}`)
    // The server asks for the admin option of the role even where there is nothing to take away.
    if (rows[0].is_app) await client.query(`revoke ${appRole} from ${name}`)
    if (access === 'operate') await client.query(`grant usage on all sequences in schema public to ${name}`)
    if (access === 'withdraw') await client.query(`grant ${appRole} to ${name}`)
    for (const { table, privileges } of await grantsOf(client, access))
      await client.query(`grant ${privileges} on ${table} to ${name}`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
  return 'set'
}

async function grantsOf(
  client: pg.ClientBase,
  access: OperatorRole | 'none',
): Promise<{ table: string; privileges: string }[]> {
  if (access === 'none' || access === 'withdraw') return []
  const { rows } = await client.query<{ table: string; privileges: string }>(
    `select c.oid::regclass::text as table,
       case when $1 and o.table_name is not null then coalesce(a.privileges, 'select, insert, update, delete')
         else 'select' end as privileges
     from pg_class c left join operator_access o on o.table_name = c.relname left join app_access a on a.table_name = c.relname
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
       and c.relname !~ 'secret|^(payment|call)_answer'`,
    [access === 'operate'],
  )
  return rows
}
