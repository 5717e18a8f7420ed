import type { SourceId } from '../sources/source.ts'
import { emptyValues, setColumn } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'

const listSources: readonly SourceId[] = ['nasdaq-threshold', 'nyse-threshold', 'cboe-threshold']

/** Who is on a threshold list, since how many lists, and who is new. Without a list before, nobody is called new. */
export async function loadThreshold(draft: AsOfDraft): Promise<void> {
  const daysOn = emptyValues(draft)
  const entered = emptyValues(draft)
  const list = emptyValues(draft)
  const originOf = new Int16Array(draft.size).fill(-1)
  const behind: number[] = []
  for (const source of listSources) {
    const files = draft.known(source)
    for (const part of new Set(files.map((file) => file.part))) {
      const lists = files.filter((file) => file.part === part)
      const members = await Promise.all(
        lists.map(async (file) => membersOf(draft, await draft.fileCache.rows(draft.sql, 'threshold', file))),
      )
      const origin = draft.originOf(lists[0] as (typeof lists)[number])
      behind.push(...lists.map((file) => draft.originOf(file)))
      for (const at of members[0] ?? []) {
        let run = 1
        while (members[run]?.has(at)) run += 1
        daysOn[at] = run
        entered[at] = members.length > 1 && run === 1 ? 1 : 0
        list[at] = listSources.indexOf(source)
        originOf[at] = origin
      }
    }
  }
  if (behind.length === 0) return
  setColumn(draft, 'threshold_days', { values: daysOn, origin: -1, originOf, behind })
  setColumn(draft, 'threshold_entered', { values: entered, origin: -1, originOf, behind })
  setColumn(draft, 'threshold_list', { values: list, origin: -1, originOf, behind })
}

function membersOf(draft: AsOfDraft, rows: { count: number; ids: Int32Array }): Set<number> {
  const members = new Set<number>()
  for (let i = 0; i < rows.count; i += 1) {
    const at = draft.dense[rows.ids[i] as number] as number
    if (at >= 0) members.add(at)
  }
  return members
}
