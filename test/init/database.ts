/** A database of json-server, with what front ends usually have in one. */
export const database = {
  posts: Array.from({ length: 12 }, (_, n) => ({
    id: n + 1,
    title: `title ${(n * 5) % 12}`,
    views: ((n * 7) % 12) * 10,
    published: n % 2 === 0,
    userId: (n % 2) + 1,
    author: { name: n < 6 ? "typicode" : "ada" },
  })),
  comments: [
    { id: 1, text: "a comment about post 1", postId: 1 },
    { id: 2, text: "another comment", postId: 1 },
    { id: 3, text: "something else", postId: 2 },
  ],
  users: [
    { id: 1, name: "Ada" },
    { id: 2, name: "Bob" },
  ],
  profile: { name: "typicode" },
};
