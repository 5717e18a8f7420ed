import type { RetentionRule } from '@assay/till/store/retention'

export const meshRetention: readonly RetentionRule[] = [
  {
    tables: ['mesh_self', 'mesh_seed', 'mesh_peer', 'mesh_evidence'],
    addedBy: 'anybody',
    kept: 'peers that do not answer are deleted',
    why: 'at most so many peers are kept: [mesh](mesh.md)',
    deletedBy: '`mesh.round.…`',
  },
]
