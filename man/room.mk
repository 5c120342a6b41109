# Each manual adds itself to dist_man_MANS in the fragment of what it is about: those of runneld
# and of its header here, others in their rooms'.
dist_man_MANS += man/runnel-tutorial.7
dist_man_MANS += man/runnel-zinx.7
dist_man_MANS += man/runnel_module.3
dist_man_MANS += man/runneld.8
