import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCheckpoint } from '@assay/protocol/log/checkpoint'
import type { OutsideSource } from './outside-heads.ts'

export type HeadFile = OutsideSource & { keep(note: string): Promise<void> }

/**
 * The last head that this process signed or saw, in its data folder. A restore of the database alone leaves it as it was,
 * so that a node without any witness outside still knows what it has signed.
 */
export function openHeadFile(folder: string): HeadFile {
  const path = join(folder, 'log-head')
  let kept: string | undefined
  return {
    name: 'data folder',
    // Written a moment after the head was signed, and gone where the folder is not kept.
    seesEveryHead: false,
    outsideHeads: async () => {
      const note = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      return note === undefined ? [] : [{ source: 'data folder', note }]
    },
    keep: async (note) => {
      if (note === kept || !parseCheckpoint(note)) return
      const file = await open(`${path}.new`, 'w', 0o644)
      try {
        await file.writeFile(note)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(`${path}.new`, path)
      kept = note
    },
  }
}
