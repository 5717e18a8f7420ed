import { join } from 'node:path'
import { parseCheckpoint } from '@assay/protocol/log/checkpoint'
import { readTextIfThere, writeDurably } from '@assay/till/kernel/durable-file'
import type { HeadSource } from './outside-heads.ts'

/** `keep` gives the reason when the folder cannot be written, once. */
export type HeadFile = HeadSource & { keep(note: string): Promise<string | undefined> }

/**
 * The last head that this process signed or saw, in its data folder. A restore of the database alone leaves it as it was,
 * so that a node without any witness outside still knows what it has signed.
 */
export function openHeadFile(folder: string): HeadFile {
  const path = join(folder, 'log-head')
  let kept: string | undefined
  let failed = false
  return {
    name: 'data folder',
    // Written a moment after the head was signed, and gone where the folder is not kept.
    seesEveryHead: false,
    outsideHeads: async () => {
      const note = await readTextIfThere(path)
      return note === undefined ? [] : [{ source: 'data folder', note }]
    },
    keep: async (note) => {
      if (note === kept || !parseCheckpoint(note)) return undefined
      try {
        await writeDurably(path, note)
        kept = note
        failed = false
        return undefined
      } catch (error) {
        const isNew = !failed
        failed = true
        return isNew ? String(error) : undefined
      }
    },
  }
}
