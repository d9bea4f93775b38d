// How many users a fresh store holds, with ids 1 to FIRST_USERS.
const FIRST_USERS = 10_000;

// Store keeps users in memory. Ids are strings: nothing parses them. In a
// cluster worker w of k takes every k-th id from 10001 + w, so that ids never
// collide; what one worker stores is unknown to the others.
export class Store {
  // A Map and not an object: /users/constructor is nobody.
  users = new Map();

  constructor(worker = 0, workers = 1) {
    this.next = FIRST_USERS + 1 + worker;
    this.step = workers;
    for (let i = 1; i <= FIRST_USERS; i++) {
      const id = String(i);
      this.users.set(id, { id, name: `User ${id}`, email: `user${id}@example.com` });
    }
  }

  get(id) {
    return this.users.get(id);
  }

  // add stores a user under the next free id.
  add(name, email) {
    const user = { id: String(this.next), name, email };
    this.next += this.step;
    this.users.set(user.id, user);
    return user;
  }

  get size() {
    return this.users.size;
  }
}
