import { handlers } from '../../seller.ts'

export const dynamic = 'force-dynamic'
export const runtime = 'nodejs'
export const GET = handlers.documents
