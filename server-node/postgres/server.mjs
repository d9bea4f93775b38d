// The API with its users in PostgreSQL, by pg from npm. Which database is told by
// PGHOST, PGUSER and the like. server-go/postgres.go is the same program.
import { readFile } from 'node:fs/promises';
import pg from 'pg';

import { API, MAX_BODY, fail, parse, refuse, send } from '../api.mjs';
import { listen, printReady } from '../listen.mjs';

// Connections are open from the start to the end. Requests beyond them wait for one.
const CONNECTIONS = 10;

// What has a name is prepared, once on each connection.
const SELECT_USER = { name: 'select', text: 'SELECT id, name, email FROM gonogo.users WHERE id = $1' };
const INSERT_USER = { name: 'insert', text: 'INSERT INTO gonogo.users (name, email) VALUES ($1, $2) RETURNING id' };
const COUNT_USERS = { name: 'count', text: 'SELECT count(*)::int AS n FROM gonogo.users' };

// Database is the API over a table. A query that has begun is finished, whether or not
// somebody still waits for the answer.
class Database extends API {
  variant = 'postgres';

  constructor(pool) {
    super(undefined, async () => [{ pid: process.pid, users: await this.count(), requests: this.served }]);
    this.pool = pool;
  }

  async read(res, id) {
    let user;
    try {
      [user] = (await this.pool.query({ ...SELECT_USER, values: [stored(id)] })).rows;
    } catch {
      return unavailable(res);
    }
    if (user === undefined) return fail(res, 404, 'not found');
    send(res, 200, JSON.stringify({ id: user.id, name: given(user.name), email: given(user.email) }));
  }

  create(req, res) {
    if (Number(req.headers['content-length']) > MAX_BODY) return refuse(req, res);
    const chunks = [];
    let size = 0;
    req.on('data', (chunk) => {
      if (size > MAX_BODY) return; // refused already
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_BODY) refuse(req, res);
    });
    req.on('end', async () => {
      if (size > MAX_BODY) return;
      const { name, email, problem } = parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      if (problem !== undefined) return fail(res, 400, problem);
      let id;
      try {
        [{ id }] = (await this.pool.query({ ...INSERT_USER, values: [stored(name), stored(email)] })).rows;
      } catch {
        return unavailable(res);
      }
      send(res, 201, JSON.stringify({ id, name, email }));
    });
  }

  // count is for health: a store that cannot be counted holds nothing.
  async count() {
    try {
      return (await this.pool.query(COUNT_USERS)).rows[0].n;
    } catch {
      return 0;
    }
  }
}

function unavailable(res) {
  fail(res, 503, 'store unavailable');
}

// PostgreSQL's text holds every character but U+0000, which the contract has too: it is
// stored as \0, and the \ itself as \\.
function stored(text) {
  return text.replace(/[\\\0]/g, (c) => (c === '\\' ? '\\\\' : '\\0'));
}

function given(text) {
  return text.replace(/\\[\\0]/g, (c) => (c === '\\\\' ? '\\' : '\0'));
}

async function open() {
  const pool = new pg.Pool({ max: CONNECTIONS, idleTimeoutMillis: 0 });
  pool.on('error', () => {}); // a connection that breaks while idle: the next query tells
  await pool.query(await readFile(new URL('../../server-go/postgres.sql', import.meta.url), 'utf8'));
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.connect()));
  clients.forEach((c) => c.release());
  return pool;
}

const pool = await open();
listen(new Database(pool), (port) => printReady(port, [process.pid]));
