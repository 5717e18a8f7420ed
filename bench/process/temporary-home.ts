import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A folder to be thrown away with what is in it. The user that root runs the database as must be able to pass, or the data
 * would be kept elsewhere and left behind.
 */
export async function temporaryHome(name = 'assay-bench-'): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), name))
  await chmod(home, 0o711)
  return home
}
