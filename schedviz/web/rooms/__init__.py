"""The pages of classes: of the teacher, the projector and the learners."""
